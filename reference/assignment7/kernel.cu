// Matrix product through two tiles in shared memory; each thread computes PER_THREAD elements of C,
// TILE rows apart, and uses every element of the tile of B for all of them.

constexpr int TILE = 16;
constexpr int PER_THREAD = 2;

__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B,
                       float* __restrict__ C, int M, int N, int K) {
    __shared__ float a[TILE * PER_THREAD][TILE];
    __shared__ float b[TILE][TILE];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE * PER_THREAD + threadIdx.y;
    float sum[PER_THREAD] = {};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        for (int p = 0; p < PER_THREAD; ++p) {
            int r = row + p * TILE;
            a[threadIdx.y + p * TILE][threadIdx.x] = r < M && ka < K ? A[r * K + ka] : 0.0f;
        }
        b[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[kb * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float right = b[k][threadIdx.x];
            for (int p = 0; p < PER_THREAD; ++p) {
                sum[p] += a[threadIdx.y + p * TILE][k] * right;
            }
        }
        __syncthreads();
    }
    for (int p = 0; p < PER_THREAD; ++p) {
        int r = row + p * TILE;
        if (r < M && col < N) {
            C[r * N + col] = sum[p];
        }
    }
}
