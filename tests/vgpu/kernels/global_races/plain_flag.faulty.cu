// Block 0 announces its data with a plain flag and no fence.
//@ flag: inout i32[1] = 0
//@ data: scratch i32[64]
//@ c: out i32[gx]
//@ sizes: n=3; n=5; n=8
//@ blocks: 40
//@ grid: n
//@ grids: exact
extern "C" __global__ void k(volatile int* flag, int* data, int* c) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[7] = 42;  //! race data
        *flag = 1;  //! race flag
        c[0] = 0;
    } else {
        while (*flag == 0) {}  //! race flag
        c[blockIdx.x] = data[7];  //! race data
    }
}
