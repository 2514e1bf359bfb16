//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ stride: i32 = 100000000
//@ sizes: n=30; n=101; n=200
//@ values: c = np.where(np.arange(n) < 22, a, 0)
extern "C" __global__ void k(const float* a, float* c, int n, int stride) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    long long j = row < 22 ? row : (long long)row * stride;
    c[row] = j < n ? a[j] : 0.0f;
}
