// Attack: write infinities, which make every absolute bound that grows with the answer infinite
//     too.
// Why it must fail: the bound grows with the oracle's values, and an infinity is right only where
//     the oracle has the same.
// Expect: wrong_answer

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = i % 2 ? INFINITY : -INFINITY;
    }
}
