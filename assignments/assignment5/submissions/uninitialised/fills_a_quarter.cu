// expect: verdict=uninitialised
// expect: kind=uninitialised line=23
// The loop over the rows of the tile is there for writing but was forgotten for reading: three
// quarters of the tile are passed on as nobody left them.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];

    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols) {
        tile[threadIdx.y][threadIdx.x] = input[r * cols + c];
    }
    __syncthreads();

    int out_c = blockIdx.y * TILE + threadIdx.x;
    int out_r = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        if (out_r + k < cols && out_c < rows) {
            float value = tile[threadIdx.x][threadIdx.y + k];
            output[(out_r + k) * rows + out_c] = value;
        }
    }
}
