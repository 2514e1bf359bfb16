// Attack: write NaN, which equals nothing and so differs from nothing in a careless comparison.
// Why it must fail: a NaN counts as right only where the oracle has one; here it has none.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i] + NAN;
    }
}
