// A grid-stride loop whose bound takes one element too many.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
extern "C" __global__ void k(const float* a, float* c, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += stride)
        c[i] = a[i] * a[i];  //! out_of_bounds a; out_of_bounds c
}
