// An assertion about the data that does not hold.
//@ a: in i32[n] = np.arange(n) - n // 2
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ ends: assertion
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(a[i] >= 0);  //! assertion
        c[i] = a[i];
    }
}
