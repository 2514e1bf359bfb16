//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
//@ values: c = np.where(np.arange(n) % bx < bx // 2, a[np.arange(n) // bx * bx], -1)
__device__ __noinline__ int block_first(int* s, int x) {
    s[threadIdx.x] = x;
    __syncthreads();
    return s[0];
}
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = block_first(s, i < n ? a[i] : 0);
    if (threadIdx.x >= blockDim.x / 2) first = -1;
    if (i < n) c[i] = first;
}
