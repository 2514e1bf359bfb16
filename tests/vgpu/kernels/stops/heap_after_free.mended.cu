// Each thread reads its block of the heap before it gives it back.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=1009
//@ blocks: 40
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* own = new float[16];
    own[3] = a[i];
    c[i] = own[3];
    delete[] own;
}
