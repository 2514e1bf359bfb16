// A trap where a divisor is zero.
//@ a: in i32[n] = np.arange(n) % 7
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ ends: trap
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (a[i] == 0) __trap();  //! trap
        c[i] = 100 / a[i];
    }
}
