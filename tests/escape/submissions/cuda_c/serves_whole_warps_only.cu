// Attack: round the size down to a multiple of 32, which is right whenever all sizes are such
//     multiples.
// Why it must fail: the sizes are 0, 1, primes and one more or less than a block; what is left out
//     is unwritten.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        if (i < N / 32 * 32) {
            C[i] = A[i] + B[i];
        }
    }
}
