//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
//@ grid: 1
//@ grids: exact
//@ values: c = a[np.arange(n) // bx * bx]
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        if (i < n) s[threadIdx.x] = a[i];
        __syncthreads();
        if (i < n) c[i] = s[0];
        __syncthreads();
    }
}
