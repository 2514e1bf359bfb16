// 0x1f is a mask of five lanes, not of 32.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 96
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i % n];
    x += __shfl_xor_sync(0x1f, x, 16);  //! warp_mask
    if (i < n) c[i] = x;
}
