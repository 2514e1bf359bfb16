// expect: verdict=build_failed
// expect: kind=diagnostic line=8
// A semicolon is missing at the end of line 7.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    if (N > 0) {
        int i = blockIdx.x * blockDim.x + threadIdx.x
        if (i < N) {
            C[i] = A[i] + B[i];
        }
    }
}
