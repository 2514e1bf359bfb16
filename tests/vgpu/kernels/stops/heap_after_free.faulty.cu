// Each thread reads its block of the heap after it gave it back.
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
    delete[] own;
    c[i] = own[3];  //! out_of_bounds
}
