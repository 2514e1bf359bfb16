// Attack: a template that instantiates itself twice, for ever.
// Why it must fail: the compiler has a limit of depth, time and memory.
// Expect: build_failed

template <int N, int M>
struct Bomb {
    static constexpr int value = Bomb<N + 1, 2 * M>::value + Bomb<N + 1, 2 * M + 1>::value;
};

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i] + Bomb<0, 1>::value;
    }
}
