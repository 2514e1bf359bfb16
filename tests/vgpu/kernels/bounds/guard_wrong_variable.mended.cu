//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=60; n=101; n=1000
//@ values: c = a
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];
}
