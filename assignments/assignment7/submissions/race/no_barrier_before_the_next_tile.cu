// expect: verdict=race
// expect: kind=race
// A fast warp fills the next tile while a slow one still reads this one.

constexpr int TILE = 16;

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty][tx] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a[ty][k] * b[k][tx];
        }
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
