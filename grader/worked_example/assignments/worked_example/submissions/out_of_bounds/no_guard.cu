// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=8 access=read buffer=x
// expect: kind=out_of_bounds line=9 access=write buffer=y
// The last block has threads without an element.

__global__ void leaky_relu(const float* x, float* y, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    y[i] = value > 0.0f ? value : slope * value;
}
