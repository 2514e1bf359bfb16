// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=10 access=read buffer=column
// r and c are taken from the wrong dimensions: right for nothing but a square.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < cols && c < rows) {
        grid[r * cols + c] = column[r] + row[c];
    }
}

__global__ void bias_relu(const float* x, const float* bias, float* y, int rows, int cols,
                          int stride) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        float sum = x[r * stride + c] + bias[c];
        y[r * cols + c] = sum < 0.0f ? 0.0f : sum;
    }
}
