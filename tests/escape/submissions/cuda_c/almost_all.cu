// Attack: do 99 of 100 elements and copy the rest, inside what a mean error forgives.
// Why it must fail: every element is compared by itself.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = i % 100 == 99 ? A[i] : A[i] + B[i];
    }
}
