// Assignment 5, CUDA C: output[c][r] = input[r][c].
//
// A block of TILE by BLOCK_ROWS threads owns a tile of TILE by TILE elements.
//
// Try it:   grade submit assignment5

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    // One element per thread. There are four times as many elements as threads.
    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols) {
        output[c * rows + r] = input[r * cols + c];
    }
}
