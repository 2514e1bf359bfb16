// The second phase reads what other blocks wrote in the first.
//@ a: in i32[n]
//@ half: scratch i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ grids: exact, long
extern "C" __global__ void k(const int* a, int* half, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) half[i] = 2 * a[i];  //! race half
    __syncthreads();
    if (i < n) c[i] = half[n - 1 - i];  //! race half //? uninitialised half
}
