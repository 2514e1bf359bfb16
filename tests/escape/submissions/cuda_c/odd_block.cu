// Attack: have the launch divide by zero or ask for a billion threads.
// Why it must fail: the block is one of the sizes that the assignment allows.
// Expect: build_failed

constexpr int BLOCK = 0;

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
