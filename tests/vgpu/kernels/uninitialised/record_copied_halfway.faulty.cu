// One field of a record is set before the record is used.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
struct Range { float low, high; };
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ Range ranges[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ranges[threadIdx.x].low = i < n ? a[i] : 0.0f;
    __syncthreads();
    Range range = ranges[blockDim.x - 1 - threadIdx.x];  //? uninitialised ranges
    if (i < n) c[i] = range.low + range.high;  //? uninitialised
}  //! somewhere uninitialised
