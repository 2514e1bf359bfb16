// A tile with a halo of one on either side in an array that has no room for it.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=101; n=300; n=1000
//@ blocks: 100
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float s[100];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    s[t] = i < n ? a[i] : 0.0f;  //! out_of_bounds s
    if (threadIdx.x == 0) s[0] = i > 0 && i <= n ? a[i - 1] : 0.0f;
    __syncthreads();
    if (i < n) c[i] = s[t - 1] + s[t];  //! out_of_bounds s
}
