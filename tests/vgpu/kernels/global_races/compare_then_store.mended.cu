//@ a: in i32[n] = np.arange(n)
//@ largest: inout i32[1] = -1
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ grids: exact, long
//@ values: largest = [n - 1]
extern "C" __global__ void k(const int* a, int* largest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(largest, a[i]);
}
