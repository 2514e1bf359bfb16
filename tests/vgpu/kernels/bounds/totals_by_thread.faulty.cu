// One total per group, but every thread stores one.
//@ a: in i32[n]
//@ totals: inout i32[8] = 0
//@ n: i32 = n
//@ sizes: n=8; n=101; n=500
//@ blocks: 40, 50, 100
//@ grids: exact
//@ grid: 1
extern "C" __global__ void k(const int* a, int* totals, int n) {
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < n; i += blockDim.x) sum += a[i];
    totals[t] = sum;  //! out_of_bounds totals
}
