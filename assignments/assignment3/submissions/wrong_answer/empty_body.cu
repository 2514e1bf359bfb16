// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Computes the sum and forgets to store it.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float sum = A[i] + B[i];
        (void)sum;
    }
}
