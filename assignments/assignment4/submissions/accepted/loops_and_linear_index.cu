// expect: verdict=accepted
// A fixed number of threads walks along each row; the division gives the row of a linear index.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    int threads_x = gridDim.x * blockDim.x, threads = threads_x * gridDim.y * blockDim.y;
    int first = (blockIdx.y * blockDim.y + threadIdx.y) * threads_x + blockIdx.x * blockDim.x +
                threadIdx.x;
    for (int i = first; i < rows * cols; i += threads) {
        grid[i] = column[i / cols] + row[i % cols];
    }
}

__global__ void bias_relu(const float* x, const float* bias, float* y, int rows, int cols,
                          int stride) {
    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y) {
        const float* in = x + size_t(r) * stride;
        float* out = y + size_t(r) * cols;
        for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x) {
            float sum = in[c] + bias[c];
            out[c] = isnan(sum) ? sum : fmaxf(sum, 0.0f);
        }
    }
}
