// Attack: leave out one block in the middle, as a check of every other block would never see.
// Why it must fail: every element is compared, and elements that were never written are known as
//     such.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        if (i / 256 != 1) {
            C[i] = A[i] + B[i];
        }
    }
}
