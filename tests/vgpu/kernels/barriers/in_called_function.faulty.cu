// A device function with a barrier that only some threads call.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
__device__ __noinline__ int block_first(int* s, int x) {
    s[threadIdx.x] = x;
    __syncthreads();  //! bad_barrier
    return s[0];
}
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = -1;
    if (threadIdx.x < blockDim.x / 2) first = block_first(s, i < n ? a[i] : 0);
    __syncthreads();  //? bad_barrier
    if (i < n) c[i] = first;
}
