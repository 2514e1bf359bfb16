// Two buffers by turns, but the writer fills the one that is being read.
//@ a: in i32[n]
//@ c: out i32[gx * bx]
//@ n: i32 = n
//@ sizes: n=400; n=501; n=600
//@ grid: 2
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[2][256];
    int t = threadIdx.x, sum = 0, turn = 0;
    s[0][t] = t < n ? a[t] : 0;
    for (int base = blockDim.x; base < n; base += blockDim.x, turn ^= 1) {
        __syncthreads();
        sum += s[turn][blockDim.x - 1 - t];  //! race s //? uninitialised s
        s[turn][t] = base + t < n ? a[base + t] : 0;  //! race s
    }
    c[blockIdx.x * blockDim.x + t] = sum;  //? uninitialised
}
