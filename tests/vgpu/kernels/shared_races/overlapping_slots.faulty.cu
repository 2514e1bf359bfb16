// Two neighbours store into the slot between them.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(int* c, int n) {
    __shared__ int s[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i;  //! race s
    s[t + 1] = -i;  //! race s
    __syncthreads();
    if (i < n) c[i] = s[t];
}
