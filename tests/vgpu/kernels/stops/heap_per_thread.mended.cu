// Each thread takes a block of the heap and gives it back: more blocks than the heap holds at once.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=9001
//@ blocks: 40, 256
//@ values: c = 2 * a
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* own = (float*)malloc(2048);
    own[100] = a[i];
    c[i] = own[100] + a[i];
    free(own);
}
