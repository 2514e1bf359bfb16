// The copy of the last tile starts inside the buffer and ends behind it.
//@ a: in f32[4 * n - 2]
//@ c: out f32[4 * gx * bx]
//@ n: i32 = n
//@ sizes: n=10; n=101; n=200
//@ blocks: 40, 60, 64
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ __align__(16) float4 s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    s[threadIdx.x] = make_float4(0, 0, 0, 0);
    if (i < n)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(a + 4 * i) : "memory");  //! out_of_bounds a
    asm volatile("cp.async.wait_all;" ::: "memory");
    ((float4*)c)[i] = s[threadIdx.x];
}
