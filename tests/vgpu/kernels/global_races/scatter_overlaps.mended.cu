//@ a: in i32[n]
//@ c: out i32[2 * n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ values: c = np.stack([a, a + np.arange(n)], 1)
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[2 * i] = a[i];
        c[2 * i + 1] = a[i] + i;
    }
}
