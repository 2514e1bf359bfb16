// The totals are added into the first element of the input.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=2; n=101; n=400
extern "C" __global__ void k(int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) {
        c[i] = a[i];
        atomicAdd(&a[0], 1);  //! input_modified a
    }
}
