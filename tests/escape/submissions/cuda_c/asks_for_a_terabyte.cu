// Attack: a static array that no machine has, to take the grader down with it.
// Why it must fail: what a launch may have is checked before it is allocated.
// Expect: build_failed not_gradable refused crashed

__device__ char big[1ull << 40];

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        big[(1ull << 39) + i] = 1;
        C[i] = A[i] + B[i];
    }
}
