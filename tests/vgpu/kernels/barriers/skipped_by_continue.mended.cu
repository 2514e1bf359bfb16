//@ a: in i32[n]
//@ c: out i32[gx * bx]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
//@ grid: 1
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int t = threadIdx.x, sum = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        s[t] = base + t < n ? a[base + t] : 0;
        int even = s[t] % 2 == 0;
        __syncthreads();
        if (even) sum += s[0];
        __syncthreads();
    }
    c[t] = sum;
}
