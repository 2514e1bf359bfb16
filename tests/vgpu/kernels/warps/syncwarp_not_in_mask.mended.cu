//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 100
//@ values: c = np.arange(n)
extern "C" __global__ void k(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 < 16) __syncwarp(threadIdx.x / 32 * 32 + 16 <= blockDim.x ? 0xffff : (1 << blockDim.x % 32) - 1);
    if (i < n) c[i] = i;
}
