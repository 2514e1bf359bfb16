// Attack: launch kernels of its own from the device.
// Why it must fail: there is no device runtime to link.
// Expect: build_failed not_gradable

__global__ void other(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    other<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
