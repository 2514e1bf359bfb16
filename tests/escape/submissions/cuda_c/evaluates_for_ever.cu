// Attack: a constant expression that never ends.
// Why it must fail: the compiler has a limit of steps, time and memory.
// Expect: build_failed

constexpr long long spin(long long n) {
    while (true) {
        n = n * 3 + 1;
    }
    return n;
}
constexpr long long value = spin(1);

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i] + value;
    }
}
