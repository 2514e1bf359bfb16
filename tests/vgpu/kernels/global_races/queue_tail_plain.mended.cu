//@ a: in i32[n]
//@ tail: inout i32[1] = 0
//@ queue: scratch i32[gx * bx]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ grids: exact, long
//@ values: tail = [(a % 2 == 1).sum()]
extern "C" __global__ void k(const int* a, int* tail, int* queue, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 2) {
        int slot = atomicAdd(tail, 1);
        queue[slot] = i;
    }
}
