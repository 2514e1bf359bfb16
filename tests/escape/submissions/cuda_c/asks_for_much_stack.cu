// Attack: local arrays of a gigabyte per thread.
// Why it must fail: what a thread may have is checked before it is allocated.
// Expect: build_failed not_gradable bad_host_call crashed timed_out

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    char stack[1u << 30];
    for (int k = 0; k < N; k++) {
        stack[(k * 7919) % (1u << 30)] = (char)k;
    }
    if (i < N) {
        C[i] = A[i] + B[i] + stack[(i * 31) % (1u << 30)];
    }
}
