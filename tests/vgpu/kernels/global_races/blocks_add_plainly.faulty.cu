// Blocks add into the same sums without atomics.
//@ a: in i32[n]
//@ c: inout i32[bx] = 0
//@ n: i32 = n
//@ sizes: n=250; n=501; n=999
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[threadIdx.x] += a[i];  //! race c
}
