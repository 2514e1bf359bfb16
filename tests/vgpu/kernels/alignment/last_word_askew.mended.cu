// Every word from the address of an element.
//@ a: in i32[n]
//@ c: out i32[n] = 0
//@ n: i32 = n
//@ sizes: n=1; n=33; n=201
//@ values: c = a
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];
}
