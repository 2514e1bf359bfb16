// The loop of the CUDA programming guide: its first, plain read is checked by the swap.
//@ a: in f64[n] = np.arange(n)
//@ total: inout f64[1] = 0
//@ n: i32 = n
//@ sizes: n=70; n=101; n=500
//@ grids: exact, long
//@ values: total = [a.sum()]
__device__ double add(double* address, double value) {
    unsigned long long* p = (unsigned long long*)address;
    unsigned long long old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
extern "C" __global__ void k(const double* a, double* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) add(total, a[i]);
}
