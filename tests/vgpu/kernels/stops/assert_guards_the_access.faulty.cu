// The assertion stands where a guard should: what follows it is not executed by who fails it.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ blocks: 32, 40
//@ ends: assertion
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);  //! assertion
    c[i] = a[i];
}
