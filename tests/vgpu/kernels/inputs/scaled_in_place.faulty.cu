// The input is scaled in place on the way.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
extern "C" __global__ void k(float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = 2 * a[i];  //! input_modified a
        c[i] = a[i] + 1;
    }
}
