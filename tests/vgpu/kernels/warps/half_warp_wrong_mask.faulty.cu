// Both halves reduce, both with the mask of the lower one.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 96
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i % n];
    for (int d = 8; d > 0; d /= 2) x += __shfl_down_sync(0x0000ffff, x, d, 16);  //! warp_mask
    if (i < n) c[i] = x;
}
