// expect: verdict=timed_out
// Spins until a flag is set that only its own thread would set, after the loop.

__device__ volatile int ready = 0;

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    while (ready == 0) {
    }
    C[i] = A[i] + B[i];
    ready = 1;
}
