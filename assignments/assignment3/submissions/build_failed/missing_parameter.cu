// expect: verdict=build_failed
// expect: kind=diagnostic line=6
// The number of elements is a constant instead of a parameter.

constexpr int N = 1000;
__global__ void vec_add(const float* A, const float* B, float* C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
