// The flag is set by an atomic and polled through volatile: orders the data, deserves a note.
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
        data[7] = 42;
        __threadfence();
        atomicExch(flag, 1);  //! note: race flag
        c[0] = 0;
    } else {
        while (*(volatile int*)flag == 0) {}  //! note: race flag
        __threadfence();
        c[blockIdx.x] = data[7];
    }
}
