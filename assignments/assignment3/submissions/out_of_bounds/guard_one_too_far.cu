// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=9 access=read buffer=A
// expect: kind=out_of_bounds line=9 access=write buffer=C
// <= lets one thread more than there are elements through.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= N) {
        C[i] = A[i] + B[i];
    }
}
