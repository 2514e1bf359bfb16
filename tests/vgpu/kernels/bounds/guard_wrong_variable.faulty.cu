// The guard looks at the thread's index in its block.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=60; n=101; n=1000
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < n) c[i] = a[i];  //! out_of_bounds a; out_of_bounds c
}
