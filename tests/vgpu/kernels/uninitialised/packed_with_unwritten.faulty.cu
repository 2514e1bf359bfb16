// The second half of the tile is never filled: its part of a float4 is no value.
//@ a: in f32[n]
//@ c: out f32[4*n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float tile[512];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? a[i] : 0.0f;
    __syncthreads();
    float mean = 0.5f * (tile[t] + tile[t + blockDim.x]);  //? uninitialised tile
    if (i < n)
        reinterpret_cast<float4*>(c)[i] = make_float4(i, 1, mean, 0);  //? uninitialised
}  //! somewhere uninitialised tile
