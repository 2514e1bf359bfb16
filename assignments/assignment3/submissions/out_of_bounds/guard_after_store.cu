// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=7 access=write buffer=C
// The store comes first and the guard is too late to stop it.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
    if (i >= N) {
        return;
    }
}
