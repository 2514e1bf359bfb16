//@ c: out i32[32 * gx]
//@ sizes: n=1; n=3; n=5
//@ blocks: 64
//@ grid: n
//@ grids: exact
//@ values: c = np.tile(np.arange(32), gx)
extern "C" __global__ void k(int* c) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        c[32 * blockIdx.x + t - 32] = s[t - 32];
    }
}
