// A full mask in a branch that half of the warp takes.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 96
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i % n];
    if (threadIdx.x % 32 < 16) x += __shfl_down_sync(0xffffffff, x, 8);  //! warp_mask
    if (i < n) c[i] = x;
}
