//@ a: in i32[n] = np.arange(n) % 11
//@ c: out i32[gx * bx]
//@ n: i32 = n
//@ sizes: n=600; n=701; n=999
//@ grid: 1
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    int t = threadIdx.x, found = -1;
    for (int base = 0; base + blockDim.x <= n; base += blockDim.x) {
        if (found < 0 && a[base + t] == 5) found = base + t;
        __syncthreads();
    }
    __syncthreads();
    c[t] = found;
}
