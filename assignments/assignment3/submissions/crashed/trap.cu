// expect: verdict=crashed
// expect: kind=trap line=7
// Gives up on sizes it was not written for.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    if (N % 2 != 0) {
        __trap();
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
