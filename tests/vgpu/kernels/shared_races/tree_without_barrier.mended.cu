//@ a: in i32[n]
//@ c: out i32[gx]
//@ n: i32 = n
//@ sizes: n=200; n=201; n=500
//@ blocks: 128, 200, 250
//@ values: c = np.array([a[j * bx:(j + 1) * bx].sum() for j in range(gx)])
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int size = blockDim.x; size > 1; size = (size + 1) / 2) {
        if (t < size / 2) s[t] += s[t + (size + 1) / 2];
        __syncthreads();
    }
    if (t == 0) c[blockIdx.x] = s[0];
}
