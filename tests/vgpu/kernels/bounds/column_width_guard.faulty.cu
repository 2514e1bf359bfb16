// One thread per column, without a guard on the width.
//@ a: in f32[h * w]
//@ c: out f32[w]
//@ w: i32 = w
//@ h: i32 = h
//@ sizes: w=7 h=3; w=101 h=5; w=500 h=2
//@ grid: ceil(w, bx)
extern "C" __global__ void k(const float* a, float* c, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int y = 0; y < h; y++) sum += a[y * w + x];  //! out_of_bounds a
    c[x] = sum;  //! out_of_bounds c
}
