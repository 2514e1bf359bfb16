// A plain look saves most of the atomics; the atomic compares again.
//@ a: in i32[n] = np.arange(n)
//@ largest: inout i32[1] = -1
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
//@ values: largest = [n - 1]
//@ complete: short
extern "C" __global__ void k(const int* a, int* largest, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (a[i] > *largest) atomicMax(largest, a[i]);
}
