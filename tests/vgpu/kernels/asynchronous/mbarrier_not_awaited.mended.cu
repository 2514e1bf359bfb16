//@ c: out i32[gx * bx]
//@ sizes: n=100; n=101; n=500
//@ values: c = np.tile(3 * np.arange(bx)[::-1], gx)
extern "C" __global__ void k(int* c) {
    __shared__ int s[256];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
    __syncthreads();
    unsigned long long state;
    s[threadIdx.x] = 3 * threadIdx.x;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at), "l"(state) : "memory");
    c[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
