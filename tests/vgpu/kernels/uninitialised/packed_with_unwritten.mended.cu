// Both halves are filled; a structure takes the padding that nobody wrote along.
//@ a: in f32[n]
//@ c: out f32[4*n]
//@ p: inout f32[4*n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
//@ values: c = np.stack([np.arange(n), np.ones(n), a + 1, np.zeros(n)], 1).ravel()
struct __align__(16) Point { float x, y, z; };
extern "C" __global__ void k(const float* a, float* c, Point* p, int n) {
    __shared__ float tile[512];
    __shared__ Point points[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? a[i] : 0.0f;
    tile[t + blockDim.x] = tile[t] + 2;
    points[t].x = points[t].y = points[t].z = t;
    __syncthreads();
    float mean = 0.5f * (tile[t] + tile[t + blockDim.x]);
    if (i < n) {
        reinterpret_cast<float4*>(c)[i] = make_float4(i, 1, mean, 0);
        p[i] = points[blockDim.x - 1 - t];
    }
}
