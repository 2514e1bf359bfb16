// Bin numbers up to 19 in a table of 16: the store lands in the next shared array.
//@ data: in i32[n] = np.arange(n) % 20
//@ c: inout i32[16] = 0
//@ n: i32 = n
//@ sizes: n=40; n=101; n=1000
extern "C" __global__ void k(const int* data, int* c, int n) {
    __shared__ int bins[16];
    __shared__ int other[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 16) bins[threadIdx.x] = other[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        atomicAdd(&bins[data[i]], 1);  //! out_of_bounds bins
        atomicAdd(&other[data[i] % 16], 1);
    }
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&c[threadIdx.x], bins[threadIdx.x] + other[threadIdx.x]);
}
