// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// The contract has `int N`.

__global__ void vec_add(const float* A, const float* B, float* C, unsigned N) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
