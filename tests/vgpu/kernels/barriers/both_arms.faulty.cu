// A barrier in either arm of a branch: two barriers, not one.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t % 2) {
        s[t] = i;
        __syncthreads();  //! bad_barrier
    } else {
        s[t] = -i;
        __syncthreads();  //! bad_barrier
    }
    if (i < n) c[i] = s[blockDim.x - 1 - t];  //? race s
}
