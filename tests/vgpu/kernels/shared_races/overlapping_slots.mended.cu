//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ values: c = np.arange(n)
extern "C" __global__ void k(int* c, int n) {
    __shared__ int s[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[2 * t] = i;
    s[2 * t + 1] = -i;
    __syncthreads();
    if (i < n) c[i] = s[2 * t];
}
