// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=9 access=write buffer=C
// The guard looks at the index inside the block, the access uses the global one.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int thread = threadIdx.x;
    int i = blockIdx.x * blockDim.x + thread;
    if (thread < N) {
        C[i] = A[i] + B[i];
    }
}
