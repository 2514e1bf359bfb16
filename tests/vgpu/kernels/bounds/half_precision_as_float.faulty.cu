// A buffer of halves is read as floats: twice too far.
//@ a: in f16[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=4; n=101; n=1000
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];  //! out_of_bounds a
}
