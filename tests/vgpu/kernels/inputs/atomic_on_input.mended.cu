//@ a: in i32[n]
//@ c: inout i32[n] = 0
//@ n: i32 = n
//@ sizes: n=2; n=101; n=400
//@ grids: exact, long
//@ values: c = np.concatenate([[n - 1], a[1:]])
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) {
        c[i] = a[i];
        atomicAdd(&c[0], 1);
    }
}
