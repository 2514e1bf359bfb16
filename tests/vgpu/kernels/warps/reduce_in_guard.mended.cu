//@ a: in u32[n]
//@ total: inout u32[1] = 0
//@ n: i32 = n
//@ sizes: n=90; n=170; n=333
//@ blocks: 32, 64, 96
//@ grids: exact, long
//@ values: total = [a.sum()]
extern "C" __global__ void k(const unsigned* a, unsigned* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = __reduce_add_sync(0xffffffff, i < n ? a[i] : 0);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}
