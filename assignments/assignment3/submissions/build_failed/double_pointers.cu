// expect: verdict=build_failed
// expect: kind=diagnostic line=5
// The arrays hold float, not double.

__global__ void vec_add(const double* A, const double* B, double* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
