// The upper half of the warp calls __syncwarp with the mask of the lower half.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 96
extern "C" __global__ void k(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __syncwarp(0x0000ffff);  //! warp_mask
    if (i < n) c[i] = i;
}
