// Padding is copied along and never used: only a note.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256], kept[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 2 == 0) s[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    kept[threadIdx.x] = s[threadIdx.x];  //! note: uninitialised s
    __syncthreads();
    if (i < n) c[i] = kept[threadIdx.x / 2 * 2];
}
