// Attack: have the optimiser unroll until it has no memory left.
// Why it must fail: the compiler's process is bounded, or it declines to unroll.
// Expect: build_failed accepted timed_out

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1000000
    for (int k = 0; k < 1000000; k++) {
        sum += A[(i + k) % (N > 0 ? N : 1)] * 0.0f;
    }
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
