//@ a: in f32[n]
//@ c: out f32[gx * bx]
//@ n: i32 = n
//@ sizes: n=250; n=501; n=600
//@ grid: 2
//@ values: c = np.tile(np.concatenate([a, np.zeros(-n % bx)]).reshape(-1, bx).sum(0)[::-1], gx)
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float tile[256];
    float sum = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        tile[threadIdx.x] = i < n ? a[i] : 0.0f;
        __syncthreads();
        sum += tile[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
