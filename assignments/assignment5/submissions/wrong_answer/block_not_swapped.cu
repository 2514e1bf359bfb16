// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=output
// The tile is turned, but it stays where it was.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = r < rows && c < cols ? input[r * cols + c] : 0.0f;
    __syncthreads();
    if (c < rows && r < cols) {
        output[r * rows + c] = tile[threadIdx.x][threadIdx.y];
    }
}
