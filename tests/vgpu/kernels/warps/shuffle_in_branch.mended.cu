//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=96; n=192; n=480
//@ blocks: 32, 64, 96
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i % n];
    int y = __shfl_down_sync(0xffffffff, x, 8);
    if (threadIdx.x % 32 < 16) x += y;
    if (i < n) c[i] = x;
}
