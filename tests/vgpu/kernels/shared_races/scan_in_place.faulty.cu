// An in-place scan step reads the neighbour that is being written.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t >= d) s[t] += s[t - d];  //! race s
        __syncthreads();
    }
    if (i < n) c[i] = s[t];
}
