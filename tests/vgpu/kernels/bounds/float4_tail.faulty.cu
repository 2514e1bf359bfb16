// Four elements at a time, also where fewer than four are left.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=6; n=101; n=999
//@ grid: ceil(n, 4 * bx)
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        float4 v = ((const float4*)a)[i];  //! out_of_bounds a
        ((float4*)c)[i] = v;  //! out_of_bounds c //? out_of_bounds a
    }
}
