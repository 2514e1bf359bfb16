//@ a: in f32[gx * bx]
//@ c: out f32[gx * bx]
//@ sizes: n=100; n=101; n=500
//@ values: c = a
extern "C" __global__ void k(const float* a, float* c) {
    __shared__ __align__(16) float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(a + i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    c[i] = s[threadIdx.x];
}
