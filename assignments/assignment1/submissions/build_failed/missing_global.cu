// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// Without __global__ it is a host function.

void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
