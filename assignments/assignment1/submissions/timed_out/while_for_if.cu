// expect: verdict=timed_out
// `while` where `if` was meant: nothing in the loop changes i.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < N) {
        C[i] = A[i] + B[i];
    }
}
