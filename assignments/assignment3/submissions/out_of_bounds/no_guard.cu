// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=9 access=read buffer=A
// expect: kind=out_of_bounds line=9 access=read buffer=B
// expect: kind=out_of_bounds line=9 access=write buffer=C
// The launch is rounded up to whole blocks, so the last block has threads without an element.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}
