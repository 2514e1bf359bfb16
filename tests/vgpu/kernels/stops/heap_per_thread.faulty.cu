// Each thread writes behind the block of the heap that it took.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=1009
//@ blocks: 40, 256
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* own = (float*)malloc(400);
    own[100] = a[i];  //! out_of_bounds
    c[i] = a[i];
    free(own);
}
