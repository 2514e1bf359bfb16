// expect: verdict=accepted
// expect: speed="<= 17"
// Coalesced, but a column of the tile lies in one bank: 32 lanes take turns.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose(const float* __restrict__ input, float* __restrict__ output, int rows,
                          int cols) {
    __shared__ float tile[TILE][TILE];

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
