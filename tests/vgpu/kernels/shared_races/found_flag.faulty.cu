// All that find something write the same value: harmless on the machine, but worth a note.
//@ a: in i32[n] = np.arange(n) % 2
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int found;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (i < n && a[i]) found = 1;  //! note: race found
    __syncthreads();
    if (i < n) c[i] = found;
}
