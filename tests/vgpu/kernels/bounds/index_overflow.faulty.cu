// row * stride is int arithmetic and overflows before it is widened.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ stride: i32 = 100000000
//@ sizes: n=30; n=101; n=200
extern "C" __global__ void k(const float* a, float* c, int n, int stride) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) c[row] = row < 22 ? a[row] : a[row * stride];  //! out_of_bounds a
}
