// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// No loop: what lies beyond the number of threads stays as it was.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
