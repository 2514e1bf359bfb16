// Undefined elements are added to a total: the load of them is named, not the atomic.
//@ a: scratch f32[n]
//@ c: inout f32[1]
//@ n: i32 = n
//@ sizes: n=64; n=320
//@ blocks: 32, 64
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = 2 * a[i];  //! uninitialised a
        atomicAdd(c, v);
    }
}
