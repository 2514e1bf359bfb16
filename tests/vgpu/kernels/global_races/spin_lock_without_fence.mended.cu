//@ a: in i32[n]
//@ lock: inout i32[1] = 0
//@ total: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=5; n=6; n=7
//@ blocks: 40, 50, 60
//@ grid: n
//@ grids: exact, long
//@ values: total = [a.sum()]
extern "C" __global__ void k(const int* a, int* lock, int* total, int n) {
    if (threadIdx.x == 0 && blockIdx.x < n) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int*)total += a[blockIdx.x];
        __threadfence();
        atomicExch(lock, 0);
    }
}
