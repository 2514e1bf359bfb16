//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=102; n=500
//@ blocks: 32, 96, 50
//@ values: c = a.reshape(-1, 2)[:, ::-1].ravel()
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[160];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? a[i] : 0;
    __syncwarp();
    if (i < n) c[i] = s[t ^ 1];
}
