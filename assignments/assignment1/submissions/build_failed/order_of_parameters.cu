// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// The output comes third, not first.

__global__ void vec_add(float* C, const float* A, const float* B, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
