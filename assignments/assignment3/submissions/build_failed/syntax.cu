// expect: verdict=build_failed
// expect: kind=diagnostic line=7
// A parenthesis is missing in line 7.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N {
        C[i] = A[i] + B[i];
    }
}
