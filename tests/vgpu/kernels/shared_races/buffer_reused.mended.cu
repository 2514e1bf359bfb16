//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ values: c = np.array([a[i // bx * bx] + (2 * a[i // bx * bx + bx - 1] if i // bx * bx + bx <= n else 0) for i in range(n)])
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int x = i < n ? a[i] : 0;
    s[t] = x;
    __syncthreads();
    int first = s[0];
    __syncthreads();
    s[t] = 2 * x;
    __syncthreads();
    if (i < n) c[i] = first + s[blockDim.x - 1];
}
