// A grid barrier of one counter: all blocks are resident.
//@ a: in i32[n]
//@ half: scratch i32[n]
//@ c: out i32[n]
//@ arrived: inout i32[1] = 0
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ grids: exact, long
//@ values: c = 2 * a[::-1]
extern "C" __global__ void k(const int* a, int* half, int* c, int* arrived, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) half[i] = 2 * a[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    if (i < n) c[i] = half[n - 1 - i];
}
