// Attack: recognise a case by its size and answer from a table.
// Why it must fail: the values are drawn from the assignment and a secret, and one case has a size
//     nobody sees.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float table[4] = {0.25f, -0.5f, 0.75f, 1.0f};
    if (i < N) {
        C[i] = N == 1000 || N == 1009 ? table[i % 4] : N * 0.5f;
    }
}
