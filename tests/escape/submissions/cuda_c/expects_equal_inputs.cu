// Attack: double one input, which is right when both are filled alike.
// Why it must fail: the inputs are drawn independently, and there are none of ones or ramps alone.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = 2.0f * A[i];
    }
}
