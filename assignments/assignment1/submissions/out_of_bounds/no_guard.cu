// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=8 access=read buffer=A
// expect: kind=out_of_bounds line=8 access=write buffer=C
// Every thread is taken to have an element.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}
