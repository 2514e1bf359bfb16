// expect: verdict=accepted
// Four elements of C in registers for each thread: the tiles are read less often.

#define TILE 16
#define PER_THREAD 4

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE * PER_THREAD][TILE + 1];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int first = blockIdx.y * TILE * PER_THREAD;
    int col = blockIdx.x * TILE + tx;
    float sum[PER_THREAD] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < K; start += TILE) {
#pragma unroll
        for (int p = 0; p < PER_THREAD; ++p) {
            int row = first + p * TILE + ty;
            bool inside = row < M && start + tx < K;
            a[p * TILE + ty][tx] = inside ? A[size_t(row) * K + start + tx] : 0.0f;
        }
        bool inside = start + ty < K && col < N;
        b[ty][tx] = inside ? B[size_t(start + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            float right = b[k][tx];
#pragma unroll
            for (int p = 0; p < PER_THREAD; ++p) {
                sum[p] = fmaf(a[ty * PER_THREAD + p][k], right, sum[p]);
            }
        }
        __syncthreads();
    }
    for (int p = 0; p < PER_THREAD; ++p) {
        int row = first + ty * PER_THREAD + p;
        if (row < M && col < N) C[size_t(row) * N + col] = sum[p];
    }
}
