//@ a: in i32[n] = np.arange(n) % 2
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=102; n=500
//@ values: c = np.ones(n)
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int found = __syncthreads_or(i < n && a[i]);
    if (i < n) c[i] = found;
}
