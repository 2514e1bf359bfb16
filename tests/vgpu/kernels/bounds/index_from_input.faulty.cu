// An index read from a buffer is used as it is.
//@ a: in f32[n]
//@ where: in i32[n] = np.arange(n) * 7 % (n + 5) - 2
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=11; n=101; n=1000
extern "C" __global__ void k(const float* a, const int* where, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[where[i]];  //! out_of_bounds a
}
