// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=8 access=write buffer=C
// i <= N: one thread too many.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > N) return;
    C[i] = A[i] + B[i];
}
