// expect: verdict=bad_barrier
// expect: kind=bad_barrier
// Threads inside and outside C wait in two different places.

constexpr int TILE = 16;

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        b[ty][tx] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f;
        if (row < M && start + tx < K) {
            a[ty][tx] = A[row * K + start + tx];
            __syncthreads();
        } else {
            a[ty][tx] = 0.0f;
            __syncthreads();
        }
        for (int k = 0; k < TILE; ++k) {
            sum += a[ty][k] * b[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
