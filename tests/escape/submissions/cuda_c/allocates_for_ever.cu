// Attack: use up the machine's memory with the device's malloc.
// Why it must fail: it comes from a heap of fixed size, or is not there at all.
// Expect: accepted timed_out not_gradable out_of_bounds crashed

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* last = nullptr;
    for (int k = 0; k < 1000000; k++) {
        float* p = (float*)malloc(1 << 20);
        if (p == nullptr) {
            break;
        }
        p[0] = 1.0f;
        last = p;
    }
    if (i < N) {
        C[i] = A[i] + B[i] + (last == (float*)8 ? 1.0f : 0.0f);
    }
}
