// No guard: the last block runs past the end of all three buffers.
//@ a: in f32[n]
//@ b: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];  //! out_of_bounds a; out_of_bounds b; out_of_bounds c
}
