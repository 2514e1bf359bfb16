// An index that no thread has stored is used as an address.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int where[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 20) where[threadIdx.x] = threadIdx.x % n;
    __syncthreads();
    if (i < n) {
        int j = where[threadIdx.x];  //? uninitialised
        c[i] = a[j];  //? uninitialised //? out_of_bounds a
    }  //! somewhere uninitialised
}
