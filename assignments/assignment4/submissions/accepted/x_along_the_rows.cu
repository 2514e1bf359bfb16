// expect: verdict=accepted
// expect: speed=0
// threadIdx.x counts rows: right, but the threads of a warp lie a row apart in memory.
// The launch covers columns in x, so the kernel walks until it has everything.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        for (int c = blockIdx.y * blockDim.y + threadIdx.y; c < cols; c += gridDim.y * blockDim.y) {
            grid[r * cols + c] = column[r] + row[c];
        }
    }
}

__global__ void bias_relu(const float* x, const float* bias, float* y, int rows, int cols,
                          int stride) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        for (int c = blockIdx.y * blockDim.y + threadIdx.y; c < cols; c += gridDim.y * blockDim.y) {
            float sum = x[r * stride + c] + bias[c];
            y[r * cols + c] = sum < 0.0f ? 0.0f : sum;
        }
    }
}
