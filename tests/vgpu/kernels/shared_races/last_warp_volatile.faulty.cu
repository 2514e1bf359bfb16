// The last warp of a reduction relies on volatile instead of __syncwarp().
//@ a: in i32[n]
//@ c: out i32[gx]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ blocks: 96, 120, 160
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[192];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? a[i] : 0;
    if (t < 32) s[blockDim.x + t] = 0;
    __syncthreads();
    if (t < 32) {
        volatile int* v = s;
        int sum = 0;
        for (int j = t; j < blockDim.x; j += 32) sum += v[j];
        v[t] = sum;  //! warning: race s
        if (t < 16) v[t] += v[t + 16];  //! warning: race s
        if (t < 8) v[t] += v[t + 8];  //! warning: race s
        if (t == 0) c[blockIdx.x] = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];  //! warning: race s
    }
}
