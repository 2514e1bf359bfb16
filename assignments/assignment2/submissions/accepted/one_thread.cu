// expect: verdict=accepted
// expect: speed=0
// One thread does everything: right, and thousands of others have nothing to do.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    for (int i = 0; i < n; ++i) {
        y[i] = fmaf(a, x[i], y[i]);
    }
}
