// Threads past the end return; the others wait at a barrier that counts who is left.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    __syncthreads();  //! warning: bad_barrier
    c[i] = s[0];
}
