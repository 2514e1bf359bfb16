// expect: verdict=input_modified
// expect: kind=input_modified line=8 access=write buffer=x
// Stores the sum to x.

__global__ void saxpy(int n, float a, const float* x, float* y) {
    float* out = const_cast<float*>(x);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out[i] = a * x[i] + y[i];
    }
}
