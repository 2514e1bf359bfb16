//@ a: in i32[n] = np.arange(n) * 3 % 8
//@ c: inout i32[8] = 0
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ grids: exact, long
//@ values: c = np.bincount(a, minlength=8)
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[a[i]], 1);
}
