// Broadcast add and a fused bias + ReLU: x along the columns, y along the rows.

__global__ void broadcast_add(const float* __restrict__ column, const float* __restrict__ row,
                              float* __restrict__ grid, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        grid[r * cols + c] = column[r] + row[c];
    }
}

__global__ void bias_relu(const float* __restrict__ x, const float* __restrict__ bias,
                          float* __restrict__ y, int rows, int cols, int stride) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        float sum = x[r * stride + c] + bias[c];
        y[r * cols + c] = sum < 0.0f ? 0.0f : sum;  // false for NaN, which stays
    }
}
