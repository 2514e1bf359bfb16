// A flag in fresh memory decides what happens.
//@ seen: scratch i32[n]
//@ c: inout i32[n] = 0
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(int* seen, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (seen[i] == 0) c[i] = 1;  //! uninitialised
        seen[i] = 1;
    }
}
