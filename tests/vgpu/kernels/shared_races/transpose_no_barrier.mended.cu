//@ a: in f32[n * n]
//@ c: out f32[n * n]
//@ n: i32 = n
//@ sizes: n=20; n=33; n=50
//@ blocks: 10x10
//@ grid: ceil(n, bx), ceil(n, by)
//@ values: c = a.reshape(n, n).T
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float tile[10][11];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 10 + tx, y = blockIdx.y * 10 + ty;
    tile[ty][tx] = x < n && y < n ? a[y * n + x] : 0.0f;
    __syncthreads();
    int u = blockIdx.y * 10 + tx, v = blockIdx.x * 10 + ty;
    if (u < n && v < n) c[v * n + u] = tile[tx][ty];
}
