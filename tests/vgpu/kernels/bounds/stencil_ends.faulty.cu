// The neighbours of the first and the last element do not exist.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float left = a[i - 1];  //! out_of_bounds a
        float right = a[i + 1];  //! out_of_bounds a
        c[i] = left + right;
    }
}
