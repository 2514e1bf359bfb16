// Each thread sets all of what it took from the heap.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=1009
//@ blocks: 40
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* own = new float[4];
    for (int k = 0; k < 4; ++k) own[k] = a[i];
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += own[k];
    c[i] = sum;
    delete[] own;
}
