//@ seen: scratch i32[n]
//@ c: inout i32[n] = 0
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
//@ grids: exact, long
//@ values: c = np.ones(n)
extern "C" __global__ void k(int* seen, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        seen[i] = 0;
        if (seen[i] == 0) c[i] = 1;
        seen[i] = 1;
    }
}
