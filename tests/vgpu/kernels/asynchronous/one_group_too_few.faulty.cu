// Two groups are under way, the second one is read after a wait for the first.
//@ a: in f32[2 * gx * bx]
//@ c: out f32[gx * bx]
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const float* a, float* c) {
    __shared__ __align__(16) float s[2][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 2; j++) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&s[j][threadIdx.x]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(a + 2 * i + j) : "memory");  //? race s
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    float first = s[0][threadIdx.x];
    float second = s[1][threadIdx.x];  //! race s //? uninitialised
    c[i] = first + second;  //? uninitialised
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}
