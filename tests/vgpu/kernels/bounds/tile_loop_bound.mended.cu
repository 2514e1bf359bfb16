//@ a: in f32[n]
//@ c: out f32[gx]
//@ n: i32 = n
//@ sizes: n=40; n=300; n=1000
//@ blocks: 40, 50, 64
//@ values: c = np.array([a[j * bx:(j + 1) * bx].sum() for j in range(gx)])
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64) tile[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int j = 0; j < blockDim.x; j++) sum += tile[j];
        c[blockIdx.x] = sum;
    }
}
