// Each thread asks for more than the heap has and does not look at the answer.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=1009
//@ blocks: 40
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* own = new float[1 << 22];
    own[0] = a[i];  //! out_of_bounds
    c[i] = a[i];
    delete[] own;
}
