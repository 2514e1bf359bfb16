// Elements are added to a total.
//@ a: in f32[n]
//@ c: inout f32[1]
//@ n: i32 = n
//@ sizes: n=64; n=320
//@ blocks: 32, 64
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = 2 * a[i];
        atomicAdd(c, v);
    }
}
