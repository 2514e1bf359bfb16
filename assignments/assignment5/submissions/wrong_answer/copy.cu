// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=output
// Moves every element to where it already is in memory.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols) {
        output[r * cols + c] = input[r * cols + c];
    }
}
