// Attack: be off by a tenth everywhere, inside the absolute tolerance of 0.2 that a grader once
//     had.
// Why it must fail: the tolerance is the rounding of one float32 addition.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i] + 0.1f;
    }
}
