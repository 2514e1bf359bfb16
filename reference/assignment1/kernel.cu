// Vector addition: one thread per element, and a guard for the threads that have none.

__global__ void vec_add(const float* __restrict__ A, const float* __restrict__ B,
                        float* __restrict__ C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
