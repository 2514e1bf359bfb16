// A ballot of the full warp behind the guard that the tail does not pass.
//@ a: in i32[n]
//@ c: inout u32[gx * 8] = 0
//@ n: i32 = n
//@ sizes: n=90; n=170; n=333
//@ blocks: 32, 64, 96
//@ grids: exact
extern "C" __global__ void k(const int* a, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned votes = __ballot_sync(0xffffffff, a[i] % 2);  //! warp_mask
        if (threadIdx.x % 32 == 0) c[blockIdx.x * 8 + threadIdx.x / 32] = votes;
    }
}
