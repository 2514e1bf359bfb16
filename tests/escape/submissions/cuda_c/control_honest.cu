// Attack: none: a control, an honest kernel.
// Why it must fail: it must not: it is right.
// Expect: accepted

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
