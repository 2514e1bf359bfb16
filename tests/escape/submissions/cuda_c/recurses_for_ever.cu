// Attack: overflow the stack of the engine by recursion.
// Why it must fail: frames are the engine's data, not the host's stack, and bounded.
// Expect: not_gradable crashed timed_out out_of_bounds

__device__ __noinline__ float deeper(volatile float* a, int n) {
    float local[64];
    local[n & 63] = a[0];
    return deeper(a, n + 1) + local[(n + 1) & 63];
}

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = deeper(C, i);
    }
}
