// expect: verdict=accepted
// expect: speed="<= 3"
// Each thread takes a run of neighbouring elements: right, but memory moves much more than it uses.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int threads = gridDim.x * blockDim.x;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int run = (n + threads - 1) / threads;
    int end = min(n, (thread + 1) * run);
    for (int i = thread * run; i < end; ++i) {
        y[i] = fmaf(a, x[i], y[i]);
    }
}
