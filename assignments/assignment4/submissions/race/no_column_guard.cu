// expect: verdict=race
// expect: kind=race line=11 buffer=grid
// One past the end of a row is the start of the next: inside the array, but two threads write
// there, and what stays depends on who comes last.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r * cols + c < rows * cols && r < rows) {
        grid[r * cols + c] = column[r] + row[c % cols];
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
