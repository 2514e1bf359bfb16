// Four bytes read as a word from any byte address.
//@ a: in u8[n + 4]
//@ c: out u32[n]
//@ n: i32 = n
//@ sizes: n=3; n=101; n=300
extern "C" __global__ void k(const unsigned char* a, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = *(const unsigned*)(a + i);  //! misaligned a
}
