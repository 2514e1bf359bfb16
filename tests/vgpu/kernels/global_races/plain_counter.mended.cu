//@ a: in i32[n]
//@ count: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=250; n=501; n=999
//@ grids: exact, long
//@ values: count = [(a > 2).sum()]
extern "C" __global__ void k(const int* a, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 2) atomicAdd(count, 1);
}
