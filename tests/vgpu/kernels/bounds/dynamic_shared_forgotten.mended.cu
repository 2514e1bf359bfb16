//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=1000
//@ shared: 4 * bx
//@ values: c = np.arange(n) // bx * bx
extern "C" __global__ void k(int* c, int n) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;
    __syncthreads();
    if (i < n) c[i] = s[0];
}
