// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// The bias belongs to the column, not to the row.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        grid[r * cols + c] = column[r] + row[c];
    }
}

__global__ void bias_relu(const float* x, const float* bias, float* y, int rows, int cols,
                          int stride) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        float sum = x[r * stride + c] + bias[r < cols ? r : cols - 1];
        y[r * cols + c] = sum < 0.0f ? 0.0f : sum;
    }
}
