//@ a: in f32[4 * n - 2]
//@ c: out f32[4 * gx * bx]
//@ n: i32 = n
//@ sizes: n=10; n=101; n=200
//@ blocks: 40, 60, 64
//@ values: c = np.concatenate([a, np.zeros(4 * gx * bx)])[:4 * gx * bx]
extern "C" __global__ void k(const float* a, float* c, int n) {
    __shared__ __align__(16) float4 s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    s[threadIdx.x] = make_float4(0, 0, 0, 0);
    int bytes = i < n - 1 ? 16 : i < n ? 8 : 0;
    const float* from = a + 4 * min(i, n - 1);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    ((float4*)c)[i] = s[threadIdx.x];
}
