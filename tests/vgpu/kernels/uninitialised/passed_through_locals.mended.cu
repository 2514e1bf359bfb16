// Elements go through a struct, a call and a shuffle before they matter.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=64; n=320
//@ blocks: 32, 64
struct Pair {
    float x, y;
};
__device__ __noinline__ float total(Pair p) {
    float held[2] = {p.x, p.y};
    return held[0] + held[1];
}
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair p;
    p.x = 1;
    p.y = a[i % n];
    float sum = total(p);
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    if (i < n) c[i] = sum;
}
