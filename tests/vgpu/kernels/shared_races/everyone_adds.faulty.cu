// Every thread adds into one shared word.
//@ a: in f32[n]
//@ c: out f32[gx]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float sum[1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) sum[0] = 0;
    __syncthreads();
    if (i < n) sum[0] += a[i];  //! race sum
    __syncthreads();
    if (threadIdx.x == 0) c[blockIdx.x] = sum[0];
}
