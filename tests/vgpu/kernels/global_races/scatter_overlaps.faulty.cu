// Every thread stores into its own and the next element.
//@ a: in i32[n]
//@ c: out i32[n + 1]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i];  //! race c
        c[i + 1] = a[i] + i;  //! race c
    }
}
