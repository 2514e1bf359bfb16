// Attack: none: a control, an honest mistake.
// Why it must fail: it is wrong, and loses what a wrong kernel loses.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] - B[i];
    }
}
