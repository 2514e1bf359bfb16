// expect: verdict=accepted
// expect: speed=0
// One thread adds everything: right, and thousands of others have nothing to do.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    for (int i = 0; i < N; ++i) {
        C[i] = A[i] + B[i];
    }
}
