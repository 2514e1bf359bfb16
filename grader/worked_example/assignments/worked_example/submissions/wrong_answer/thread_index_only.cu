// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=y
// Every block does the first block's elements.

__global__ void leaky_relu(const float* x, float* y, float slope, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = x[i] > 0.0f ? x[i] : slope * x[i];
}
