// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Steps by two without doing both: half of C is never written.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
