// The launch gives no dynamic shared memory at all.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=1000
extern "C" __global__ void k(int* c, int n) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;  //! out_of_bounds s
    __syncthreads();
    if (i < n) c[i] = s[0];  //! out_of_bounds s
}
