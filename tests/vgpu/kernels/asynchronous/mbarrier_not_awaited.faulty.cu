// Threads arrive at an mbarrier and go on without waiting for its phase.
//@ c: out i32[gx * bx]
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(int* c) {
    __shared__ int s[256];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
    __syncthreads();
    unsigned long long state;
    s[threadIdx.x] = 3 * threadIdx.x;  //! race s
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    c[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];  //! race s //? uninitialised s
}
