//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=50; n=101; n=300
//@ blocks: 40, 50, 100
//@ values: c = 2.0 * np.arange(n)
extern "C" __global__ void k(float* c, int n) {
    __shared__ __align__(16) float s[304];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 pair = {1.0f * i, 2.0f * i};
    *(float2*)&s[2 * threadIdx.x] = pair;
    __syncthreads();
    if (i < n) c[i] = s[2 * threadIdx.x + 1];
}
