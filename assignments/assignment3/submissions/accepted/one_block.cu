// expect: verdict=accepted
// expect: speed="<= 9"
// One block adds everything, neighbours side by side: one multiprocessor works, the others wait.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    if (blockIdx.x != 0) return;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        C[i] = A[i] + B[i];
    }
}
