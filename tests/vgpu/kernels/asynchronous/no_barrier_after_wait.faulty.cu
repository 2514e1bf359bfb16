// A wait is for the thread's own copies; what the others copied needs a barrier.
//@ a: in f32[gx * bx]
//@ c: out f32[gx * bx]
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const float* a, float* c) {
    __shared__ __align__(16) float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(a + i) : "memory");  //! race s
    asm volatile("cp.async.wait_all;" ::: "memory");  //? race s
    c[i] = s[blockDim.x - 1 - threadIdx.x];  //! race s //? uninitialised
}
