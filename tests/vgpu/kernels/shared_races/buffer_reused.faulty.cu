// A second reduction starts in the buffer from which the first result is still read.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int x = i < n ? a[i] : 0;
    s[t] = x;
    __syncthreads();
    int first = s[0];  //! race s
    s[t] = 2 * x;  //! race s
    __syncthreads();
    if (i < n) c[i] = first + s[blockDim.x - 1];
}
