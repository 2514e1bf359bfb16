// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=output
// A block of 32 by 8 threads moves a quarter of its tile.

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < cols) {
        output[c * rows + r] = input[r * cols + c];
    }
}
