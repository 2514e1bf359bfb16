//@ a: in u8[n * 16]
//@ c: out f64[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
//@ values: c = a.view(np.float64)[1::2]
extern "C" __global__ void k(const char* a, double* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = *(const double*)(a + 16 * i + 8);
}
