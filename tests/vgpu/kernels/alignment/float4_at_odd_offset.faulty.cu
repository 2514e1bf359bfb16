// A float4 from an address that is not a multiple of 16.
//@ a: in f32[4 * n + 4]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = *(const float4*)(a + 1 + 4 * i);  //! misaligned a
        c[i] = v.x + v.y + v.z + v.w;
    }
}
