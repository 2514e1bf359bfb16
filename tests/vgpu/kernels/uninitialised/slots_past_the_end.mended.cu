//@ a: in f32[n]
//@ c: out f32[gx]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
//@ values: c = np.array([a[j * bx:(j + 1) * bx].sum() for j in range(gx)])
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int j = 0; j < blockDim.x; j++) sum += s[j];
        c[blockIdx.x] = sum;
    }
}
