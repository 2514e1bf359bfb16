// Attack: read and write addresses made of integers: null, the stack, the engine's own code.
// Why it must fail: an address is resolved by window before the host's memory is touched.
// Expect: out_of_bounds

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float sum = A[i] + B[i];
        if (i == 0) {
            *(volatile float*)0x0 = 1.0f;
            *(volatile float*)0x400000 = 1.0f;
            *(volatile float*)0x7fffffffe000 = 1.0f;
            sum += *(volatile float*)0xffffffffff600000;
        }
        C[i] = sum;
    }
}
