//@ a: in f32[n]
//@ c: out f32[n]
//@ n: i32 = n
//@ sizes: n=6; n=101; n=999
//@ grid: ceil(n, 4 * bx)
//@ values: c = a
extern "C" __global__ void k(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = ((const float4*)a)[i];
        ((float4*)c)[i] = v;
    } else {
        for (int j = 4 * i; j < n; j++) c[j] = a[j];
    }
}
