// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=10 access=read buffer=A
// Counts elements from 1, as in Matlab or Fortran: the first thread reads A[-1].

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float b = B[i];
        int previous = i - 1;
        C[i] = A[previous] + b;
    }
}
