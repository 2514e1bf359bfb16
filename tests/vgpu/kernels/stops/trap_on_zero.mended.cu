//@ a: in i32[n] = np.arange(n) % 7
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ values: c = np.where(a == 0, 0, 100 // np.maximum(a, 1))
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] == 0 ? 0 : 100 / a[i];
}
