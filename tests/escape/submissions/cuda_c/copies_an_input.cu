// Attack: return one of the inputs.
// Why it must fail: outputs are buffers of the grader's, compared with a float64 oracle.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i];
    }
}
