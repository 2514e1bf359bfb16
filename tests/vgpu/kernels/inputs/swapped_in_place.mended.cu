//@ a: in i32[2 * n]
//@ c: out i32[2 * n]
//@ n: i32 = n
//@ sizes: n=2; n=101; n=400
//@ values: c = np.sort(a.reshape(n, 2), 1).ravel()
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = a[2 * i], high = a[2 * i + 1];
    c[2 * i] = min(low, high);
    c[2 * i + 1] = max(low, high);
}
