// Attack: tell timed runs from checked ones by the clock.
// Why it must fail: the clock counts instructions, and every run is checked.
// Expect: accepted not_gradable

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long before = clock64();
    if (i < N) {
        C[i] = A[i] + B[i];
    }
    if (clock64() < before && i < N) {
        C[i] = 0.0f;
    }
}
