// Attack: feed the engine's parser operands and blocks within each other by the ten thousand.
// Why it must fail: depth is bounded, and what is deeper is assembly that cannot be read.
// Expect: build_failed not_gradable

#define TEN(x) x x x x x x x x x x
#define MANY(x) TEN(TEN(TEN(TEN(x))))

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile(MANY("{") MANY("}"));
    asm volatile("mov.u32 %0, " MANY("(") "1" MANY(")") ";" : "=r"(i));
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
