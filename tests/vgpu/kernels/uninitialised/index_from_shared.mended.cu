//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
//@ values: c = a[np.arange(n) % bx % n]
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int where[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    where[threadIdx.x] = threadIdx.x % n;
    __syncthreads();
    if (i < n) {
        int j = where[threadIdx.x];
        c[i] = a[j];
    }
}
