// The tail of the block stores nothing, yet its slots are added.
//@ a: in f32[n]
//@ c: out f32[gx]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) s[threadIdx.x] = a[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int j = 0; j < blockDim.x; j++) sum += s[j];  //? uninitialised s
        c[blockIdx.x] = sum;  //? uninitialised
    }  //! somewhere uninitialised
}
