// Producer and consumer wait on each other's named barriers.
//@ c: out i32[32 * gx]
//@ sizes: n=1; n=3; n=5
//@ blocks: 64
//@ grid: n
//@ grids: exact
//@ ends: deadlock
extern "C" __global__ void k(int* c) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");  //! deadlock
        s[t] = t;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");  //! deadlock
        c[32 * blockIdx.x + t - 32] = s[t - 32];
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}
