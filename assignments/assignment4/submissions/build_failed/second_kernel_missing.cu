// expect: verdict=build_failed
// Only one of the two kernels is there.

__global__ void broadcast_add(const float* column, const float* row, float* grid, int rows,
                              int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        grid[r * cols + c] = column[r] + row[c];
    }
}
