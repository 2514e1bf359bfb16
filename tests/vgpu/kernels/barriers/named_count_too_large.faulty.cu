// A named barrier waits for more threads than will ever arrive.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
//@ blocks: 96, 160, 200
//@ ends: deadlock
extern "C" __global__ void k(int* c, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");  //! deadlock
    if (i < n) c[i] = s[threadIdx.x];
}
