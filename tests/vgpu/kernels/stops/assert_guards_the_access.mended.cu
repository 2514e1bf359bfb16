// The assertion stands where a guard should: here a guard does, and the assertion holds.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ blocks: 32, 40
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(i < n);
    c[i] = a[i];
}
