//@ a: in f32[h * w]
//@ c: out f32[h * w]
//@ w: i32 = w
//@ h: i32 = h
//@ sizes: w=7 h=30; w=50 h=20; w=33 h=70
//@ blocks: 8x5, 16x6, 12x12
//@ grid: ceil(w, bx), ceil(h, by)
//@ values: c = a.reshape(h, w).T.ravel()
extern "C" __global__ void k(const float* a, float* c, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) c[x * h + y] = a[y * w + x];
}
