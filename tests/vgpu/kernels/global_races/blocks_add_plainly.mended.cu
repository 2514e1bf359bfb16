//@ a: in i32[n]
//@ c: inout i32[bx] = 0
//@ n: i32 = n
//@ sizes: n=250; n=501; n=999
//@ grids: exact, long
//@ values: c = np.concatenate([a, np.zeros(-n % bx, int)]).reshape(-1, bx).sum(0)
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[threadIdx.x], a[i]);
}
