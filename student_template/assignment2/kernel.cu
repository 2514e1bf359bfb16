// Assignment 2, CUDA C: y[i] = a * x[i] + y[i] for every i below n, by a grid of any size.
//
// Try it:   grade submit assignment2

__global__ void saxpy(int n, float a, const float* x, float* y) {
    // This does one element per thread. What if there are more elements than threads?
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
