// A tile is overwritten while slower threads still read the one before.
//@ a: in f32[n]
//@ c: out f32[gx * bx]
//@ n: i32 = n
//@ sizes: n=250; n=501; n=600
//@ grid: 2
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float tile[256];
    float sum = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        tile[threadIdx.x] = i < n ? a[i] : 0.0f;  //! race tile
        __syncthreads();
        sum += tile[blockDim.x - 1 - threadIdx.x];  //! race tile
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
