// Each thread takes two elements and looks whether the first exists.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=999
//@ grid: ceil(n, 2 * bx)
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        c[i] = a[i];
        c[i + 1] = a[i + 1];  //! out_of_bounds a; out_of_bounds c
    }
}
