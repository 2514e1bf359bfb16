// Positive elements are counted with a plain increment.
//@ a: in i32[n]
//@ count: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=250; n=501; n=999
extern "C" __global__ void k(const int* a, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 2) (*count)++;  //! race count
}
