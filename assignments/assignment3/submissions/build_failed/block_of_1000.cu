// expect: verdict=build_failed
// expect: kind=diagnostic line=5 message="found 1000"
// The contract lists the sizes that a block may have.

constexpr int BLOCK = 1000;

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
