// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// The kernel is called vecAdd.

__global__ void vecAdd(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
