// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=11 access=read buffer=column
// expect: kind=out_of_bounds line=11 access=write buffer=grid
// Only the columns are checked: the last block of rows reaches past the end.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < cols) {
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
