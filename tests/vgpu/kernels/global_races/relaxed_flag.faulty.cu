// A flag of the right kind but the wrong order: relaxed, so the data is not ordered before it.
//@ flag: inout i32[1] = 0
//@ data: scratch i32[64]
//@ c: out i32[gx]
//@ sizes: n=3; n=5; n=8
//@ blocks: 40
//@ grid: n
//@ grids: exact
extern "C" __global__ void k(int* flag, int* data, int* c) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[7] = 42;  //! race data
        asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");  //? note: race flag
        c[0] = 0;
    } else {
        int seen = 0;
        while (seen == 0) asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  //? note: race flag
        c[blockIdx.x] = data[7];  //! race data
    }
}
