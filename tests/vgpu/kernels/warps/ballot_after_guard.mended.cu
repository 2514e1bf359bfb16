//@ a: in i32[n]
//@ c: inout u32[gx * 8] = 0
//@ n: i32 = n
//@ sizes: n=90; n=170; n=333
//@ blocks: 32, 64, 96
extern "C" __global__ void k(const int* a, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffff, i < n && a[min(i, n - 1)] % 2);
    if (threadIdx.x % 32 == 0) c[blockIdx.x * 8 + threadIdx.x / 32] = votes;
}
