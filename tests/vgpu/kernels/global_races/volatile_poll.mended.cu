//@ flag: inout i32[1] = 0
//@ data: scratch i32[64]
//@ c: out i32[gx]
//@ sizes: n=3; n=5; n=8
//@ blocks: 40, 50, 60
//@ grid: n
//@ grids: exact
//@ values: c = np.where(np.arange(gx) > 0, 42, 0)
extern "C" __global__ void k(int* flag, int* data, int* c) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[7] = 42;
        __threadfence();
        atomicExch(flag, 1);
        c[0] = 0;
    } else {
        while (atomicCAS(flag, 1, 1) == 0) {}
        __threadfence();
        c[blockIdx.x] = data[7];
    }
}
