//@ a: in i32[n]
//@ half: scratch i32[gx * bx]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(const int* a, int* half, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, base = blockIdx.x * blockDim.x;
    half[i] = i < n ? 2 * a[i] : 0;
    __syncthreads();
    if (i < n) c[i] = half[base + blockDim.x - 1 - threadIdx.x];
}
