// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// The guard stops one element too early.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N - 1) {
        C[i] = A[i] + B[i];
    }
}
