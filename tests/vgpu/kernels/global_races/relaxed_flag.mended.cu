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
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
        c[0] = 0;
    } else {
        int seen = 0;
        while (seen == 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        c[blockIdx.x] = data[7];
    }
}
