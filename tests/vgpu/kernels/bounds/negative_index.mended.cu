//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ shift: i32 = 3
//@ sizes: n=5; n=101; n=1000
//@ values: c = np.roll(a, 3)
extern "C" __global__ void k(const float* a, float* c, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[(i - shift + n) % n];
}
