//@ a: in f32[h * w]
//@ c: out f32[h * w]
//@ w: i32 = w
//@ h: i32 = h
//@ pitch: i32 = 4 * w
//@ sizes: w=7 h=5; w=33 h=9; w=50 h=20
//@ blocks: 8x5, 16x6, 12x12
//@ grid: ceil(w, bx), ceil(h, by)
//@ values: c = a
extern "C" __global__ void k(const float* a, float* c, int w, int h, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) c[y * w + x] = ((const float*)((const char*)a + y * pitch))[x];
}
