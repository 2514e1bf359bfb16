// The store comes before the guard.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=999
extern "C" __global__ void k(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = i;  //! out_of_bounds c
    if (i >= n) return;  //? out_of_bounds c
    c[i] += 1;
}
