// One thread resets the counter that all others add to.
//@ a: in i32[n]
//@ total: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *total = 0;  //! race total
    if (i < n) atomicAdd(total, a[i]);  //! race total
}
