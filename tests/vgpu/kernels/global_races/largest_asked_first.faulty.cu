// Asked first and stored later: a larger value stored between is lost.
//@ a: in i32[n] = np.arange(n)
//@ largest: inout i32[1] = -1
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* largest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > *largest)  //! race largest
        atomicExch(largest, a[i]);  //! race largest
}
