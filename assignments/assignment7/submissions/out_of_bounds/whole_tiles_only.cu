// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=16 access=read buffer=A
// expect: kind=out_of_bounds line=17 access=read buffer=B
// Loads whole tiles, whatever the sizes.

constexpr int TILE = 16;

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = A[row * K + start + tx];
        b[ty][tx] = B[(start + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a[ty][k] * b[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
