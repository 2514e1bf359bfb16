// A packed record: a double right behind a 4-byte count.
//@ a: in u8[n * 12]
//@ c: out f64[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
extern "C" __global__ void k(const char* a, double* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = *(const double*)(a + 12 * i + 4);  //! misaligned a
}
