// Attack: write zeros, which pass wherever the true values are below an absolute tolerance.
// Why it must fail: the tolerance follows the size of the values, and they are random.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = 0.0f;
    }
}
