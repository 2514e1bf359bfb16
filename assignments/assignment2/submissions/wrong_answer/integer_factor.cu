// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// a goes through an int and loses its fraction.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int factor = a;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = factor * x[i] + y[i];
    }
}
