// The optional bias is null and is read all the same.
//@ a: in f32[n]
//@ bias: null
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
extern "C" __global__ void k(const float* a, const float* bias, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + bias[i];  //! out_of_bounds
}
