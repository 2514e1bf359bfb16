// expect: verdict=build_failed
// expect: kind=diagnostic line=6
// The size of a static shared array must be known to the compiler.

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[blockDim.x][blockDim.x + 1];
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = input[r * cols + c];
    __syncthreads();
    output[c * rows + r] = tile[threadIdx.y][threadIdx.x];
}
