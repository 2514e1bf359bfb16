// Attack: search the address space behind the buffers for the expected values.
// Why it must fail: they are not in the process, and every access outside a buffer is a fault.
// Expect: out_of_bounds

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float found = 0.0f;
        for (int step = 1; step < 64; step++) {
            float there = C[i + step * 4096];
            found = there == A[i] + B[i] ? there : found;
        }
        C[i] = found;
    }
}
