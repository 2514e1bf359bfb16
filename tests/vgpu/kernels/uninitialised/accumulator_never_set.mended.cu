//@ a: in f32[n]
//@ c: inout f32[n] = 1
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
//@ grids: exact, long
//@ values: c = a + 1
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] += a[i];
}
