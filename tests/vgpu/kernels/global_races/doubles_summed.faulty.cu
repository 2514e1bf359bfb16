// A sum of doubles, read and written plainly by every thread.
//@ a: in f64[n] = np.arange(n)
//@ total: inout f64[1] = 0
//@ n: i32 = n
//@ sizes: n=70; n=101; n=500
extern "C" __global__ void k(const double* a, double* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) *total += a[i];  //! race total
}
