// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=16 access=write
// The tile has as many rows as the block has threads, not as many as it needs.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose(const float* __restrict__ input, float* __restrict__ output, int rows,
                          int cols) {
    __shared__ float tile[BLOCK_ROWS][TILE + 1];

    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        if (r + k < rows && c < cols) {
            tile[threadIdx.y + k][threadIdx.x] = input[(r + k) * cols + c];
        }
    }
    __syncthreads();

    int out_c = blockIdx.y * TILE + threadIdx.x;
    int out_r = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        if (out_r + k < cols && out_c < rows) {
            output[(out_r + k) * rows + out_c] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}
