//@ a: in f32[n]
//@ where: in i32[n] = np.arange(n) * 7 % (n + 5) - 2
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=11; n=101; n=1000
//@ values: c = np.where((where >= 0) & (where < n), a[np.clip(where, 0, n - 1)], 0)
extern "C" __global__ void k(const float* a, const int* where, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int j = where[i];
        c[i] = j >= 0 && j < n ? a[j] : 0.0f;
    }
}
