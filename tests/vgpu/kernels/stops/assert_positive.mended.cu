//@ a: in i32[n] = np.arange(n)
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ values: c = a
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(a[i] >= 0);
        c[i] = a[i];
    }
}
