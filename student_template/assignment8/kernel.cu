// Assignment 8, CUDA C: y[r][c] = exp(x[r][c] - max of row r) / sum of those over row r.
//
// One block of BLOCK threads for each row (256 unless you declare it), with 4 * BLOCK bytes of
// dynamic shared memory.
//
// Try it:   grade submit assignment8

extern __shared__ float s[];

__global__ void softmax(const float* x, float* y, int rows, int cols) {
    // 1. The maximum of the row.
    // 2. The sum of exp(x - maximum).
    // 3. The weights.
}
