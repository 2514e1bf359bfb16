// Mirrored to n - i: element 0 goes to n.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[n - i] = a[i];  //! out_of_bounds c
}
