// expect: verdict=bad_barrier
// expect: kind=bad_barrier
// Two barriers are not one: the threads of the two arms wait for each other in different places.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    int c = blockIdx.x * TILE + threadIdx.x;
    int r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols) {
        tile[threadIdx.y][threadIdx.x] = input[r * cols + c];
        __syncthreads();
    } else {
        tile[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();
    }
    int out_c = blockIdx.y * TILE + threadIdx.x;
    int out_r = blockIdx.x * TILE + threadIdx.y;
    if (out_r < cols && out_c < rows) {
        output[out_r * rows + out_c] = tile[threadIdx.x][threadIdx.y];
    }
}
