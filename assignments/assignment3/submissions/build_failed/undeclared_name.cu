// expect: verdict=build_failed
// expect: kind=diagnostic line=7
// Uses a name from the other exercise.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        C[i] = A[i] + B[i];
    }
}
