// A loop with a barrier that each thread leaves after a number of turns of its own.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=130; n=131; n=555
//@ grid: 1
//@ grids: exact
extern "C" __global__ void k(const int* a, int* c, int n) {
    __shared__ int s[256];
    int last = -1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s[threadIdx.x] = a[i];  //? race s
        __syncthreads();  //! bad_barrier
        c[i] = s[0];  //? race s
        last = i;
    }
    __syncthreads();  //! bad_barrier
    if (last >= 0 && last < n) c[last] += s[0];
}
