// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=C
// Rounds the factors to half precision.

#include <cuda_fp16.h>

constexpr int TILE = 16;

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ __half a[TILE][TILE];
    __shared__ __half b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = __float2half(row < M && start + tx < K ? A[row * K + start + tx] : 0.0f);
        b[ty][tx] = __float2half(start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += __half2float(a[ty][k]) * __half2float(b[k][tx]);
        }
        __syncthreads();
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
