//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
//@ values: c = a[::-1]
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[n - 1 - i] = a[i];
}
