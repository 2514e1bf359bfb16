// The launch gives half of the dynamic shared memory that the block uses.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=1000
//@ shared: 2 * bx
extern "C" __global__ void k(const float* a, float* c, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0.0f;  //! out_of_bounds s
    __syncthreads();
    if (i < n) c[i] = s[blockDim.x - 1 - threadIdx.x];  //! out_of_bounds s
}
