//@ a: in f32[n + 8]
//@ c: out f32[n]
//@ n: i32 = n
//@ taps: i32 = 5
//@ sizes: n=11; n=101; n=500
//@ values: c = np.correlate(a, [1, 2, 3, 2, 1])[:n]
__constant__ float weights[5] = {1, 2, 3, 2, 1};
extern "C" __global__ void k(const float* a, float* c, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < taps; j++) sum += weights[j] * a[i + j];
    c[i] = sum;
}
