//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
//@ blocks: 96, 160, 200
//@ values: c = np.arange(n)
extern "C" __global__ void k(int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (i < n) c[i] = s[threadIdx.x];
}
