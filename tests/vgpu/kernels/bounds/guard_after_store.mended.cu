//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=1; n=101; n=999
//@ values: c = np.arange(n) + 1
extern "C" __global__ void k(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = i;
    c[i] += 1;
}
