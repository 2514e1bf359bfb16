//@ a: in i32[n]
//@ c: out i32[gx]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ blocks: 96, 120, 160
//@ values: c = np.array([a[j * bx:(j + 1) * bx].sum() for j in range(gx)])
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[192];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    if (t < 32) {
        int sum = 0;
        for (int j = t; j < blockDim.x; j += 32) sum += s[j];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
        for (int d = 16; d > 0; d /= 2) {
            int other = t < d ? s[t + d] : 0;
            __syncwarp();
            s[t] += other;
            __syncwarp();
        }
        if (t == 0) c[blockIdx.x] = s[0];
    }
}
