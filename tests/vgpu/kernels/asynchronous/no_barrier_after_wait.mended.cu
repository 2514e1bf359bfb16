//@ a: in f32[gx * bx]
//@ c: out f32[gx * bx]
//@ sizes: n=100; n=101; n=500
//@ values: c = a.reshape(gx, bx)[:, ::-1]
extern "C" __global__ void k(const float* a, float* c) {
    __shared__ __align__(16) float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(a + i) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    c[i] = s[blockDim.x - 1 - threadIdx.x];
}
