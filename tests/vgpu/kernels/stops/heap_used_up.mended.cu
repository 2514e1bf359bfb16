// Many small blocks of the heap stay taken, and who gets none does without.
//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=100; n=1009
//@ blocks: 40
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* own = new float[1 << 22];
    if (own != nullptr) own[0] = a[i];
    for (int k = 0; k < 8; ++k) {
        int* kept = (int*)malloc(4);
        *kept = i;
    }
    c[i] = a[i];
    delete[] own;
}
