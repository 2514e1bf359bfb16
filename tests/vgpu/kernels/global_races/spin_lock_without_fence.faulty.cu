// A lock protects the sum, but without fences not the memory it guards.
//@ a: in i32[n]
//@ lock: inout i32[1] = 0
//@ total: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=5; n=6; n=7
//@ blocks: 40
//@ grid: n
//@ grids: exact, long
extern "C" __global__ void k(const int* a, int* lock, int* total, int n) {
    if (threadIdx.x == 0 && blockIdx.x < n) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        *total += a[blockIdx.x];  //! race total
        atomicExch(lock, 0);
    }
}
