//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=1000
//@ values: c = np.concatenate([[0], a[:-1]]) + np.concatenate([a[1:], [0]])
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float left = i > 0 ? a[i - 1] : 0.0f;
        float right = i + 1 < n ? a[i + 1] : 0.0f;
        c[i] = left + right;
    }
}
