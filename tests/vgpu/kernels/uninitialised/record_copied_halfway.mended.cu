//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
struct Range { float low, high; };
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ Range ranges[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ranges[threadIdx.x].low = i < n ? a[i] : 0.0f;
    ranges[threadIdx.x].high = i < n ? 2 * a[i] : 0.0f;
    __syncthreads();
    Range range = ranges[blockDim.x - 1 - threadIdx.x];
    if (i < n) c[i] = range.low + range.high;
}
