//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=102; n=333
//@ blocks: 40, 100, 250
//@ values: c = a[np.arange(n) // 2 * 2]
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256], kept[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    kept[threadIdx.x] = s[threadIdx.x];
    __syncthreads();
    if (i < n) c[i] = kept[threadIdx.x / 2 * 2];
}
