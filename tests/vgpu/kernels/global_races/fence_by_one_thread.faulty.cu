// Only one thread fences, and before the others have arrived.
//@ a: in i32[n]
//@ partial: scratch i32[gx * bx]
//@ counter: inout u32[1] = 0
//@ c: out i32[1]
//@ n: i32 = n
//@ sizes: n=250; n=501; n=999
//@ grids: exact, long
extern "C" __global__ void k(const int* a, int* partial, unsigned* counter, int* c, int n) {
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[i] = i < n ? a[i] : 0;  //! race partial
    if (threadIdx.x == 0) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int j = 0; j < gridDim.x * blockDim.x; j++) total += partial[j];  //! race partial
        *c = total;
    }
}
