// expect: verdict=timed_out
// A grid-stride loop that forgets to step: every thread with an element runs for ever.

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int step = 0;
    volatile float* out = C;
    while (i < N) {
        out[i] = A[i] + B[i];
        i += step;
    }
}
