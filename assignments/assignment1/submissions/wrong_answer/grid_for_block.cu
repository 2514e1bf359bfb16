// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// gridDim is the number of blocks, blockDim the number of threads in one.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
