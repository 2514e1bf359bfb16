// Shared counters are incremented without atomics.
//@ a: in i32[n] = np.arange(n) * 3 % 8
//@ c: inout i32[8] = 0
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int bins[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) bins[a[i]]++;  //! race bins
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&c[threadIdx.x], bins[threadIdx.x]);
}
