//@ a: in u8[n + 4]
//@ c: out u32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ values: c = np.lib.stride_tricks.sliding_window_view(a, 4).copy().view(np.uint32).ravel()[:n]
extern "C" __global__ void k(const unsigned char* a, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned word = 0;
        for (int j = 3; j >= 0; j--) word = word << 8 | a[i + j];
        c[i] = word;
    }
}
