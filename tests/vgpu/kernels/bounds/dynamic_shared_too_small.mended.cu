//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=1000
//@ shared: 4 * bx
//@ values: c = np.concatenate([a, np.zeros(bx)])[[i // bx * bx + bx - 1 - i % bx for i in range(n)]]
extern "C" __global__ void k(const float* a, float* c, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) c[i] = s[blockDim.x - 1 - threadIdx.x];
}
