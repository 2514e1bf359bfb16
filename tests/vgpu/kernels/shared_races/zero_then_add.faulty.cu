// The counters are cleared and counted into without a barrier between.
//@ a: in i32[n] = np.arange(n) % 16
//@ c: inout i32[16] = 0
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;  //! race bins
    if (i < n) atomicAdd(&bins[a[i]], 1);  //! race bins //? uninitialised bins
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&c[threadIdx.x], bins[threadIdx.x]);
}
