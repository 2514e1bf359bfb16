// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=16 access=read buffer=input
// expect: kind=out_of_bounds line=23 access=write buffer=output
// Reads and writes whole tiles, whatever the size of the matrix.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose(const float* __restrict__ input, float* __restrict__ output, int rows,
                          int cols) {
    __shared__ float tile[TILE][TILE + 1];

    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        tile[threadIdx.y + k][threadIdx.x] = input[(r + k) * cols + c];
    }
    __syncthreads();

    int out_c = blockIdx.y * TILE + threadIdx.x;
    int out_r = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        output[(out_r + k) * rows + out_c] = tile[threadIdx.x][threadIdx.y + k];
    }
}
