// The wait is the atomic itself.
//@ lock: inout i32[1] = 0
//@ total: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=3; n=5; n=6
//@ blocks: 1, 40, 100
//@ grid: n
//@ grids: exact, long
//@ values: total = [gx]
extern "C" __global__ void k(int* lock, int* total, int n) {
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += 1;
    __threadfence();
    atomicExch(lock, 0);
}
