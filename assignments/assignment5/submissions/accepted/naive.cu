// expect: verdict=accepted
// expect: speed=0
// No tile: reads rows and writes columns. Right, and slow.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols) {
        output[c * rows + r] = input[r * cols + c];
    }
}
