//@ a: in f32[n * n]
//@ b: in f32[n * n]
//@ c: out f32[n * n]
//@ n: i32 = n
//@ sizes: n=24; n=17; n=40
//@ blocks: 8x8
//@ grid: ceil(n, bx), ceil(n, by)
//@ values: c = a.reshape(n, n) @ b.reshape(n, n)
extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
    __shared__ float x[8][8], y[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 8 + ty, column = blockIdx.x * 8 + tx;
    float sum = 0;
    for (int m = 0; m < n; m += 8) {
        x[ty][tx] = row < n && m + tx < n ? a[row * n + m + tx] : 0.0f;
        y[ty][tx] = m + ty < n && column < n ? b[(m + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 8; j++) sum += x[ty][j] * y[j][tx];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
