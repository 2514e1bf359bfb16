// What an exchange takes out was never put in, and is used.
//@ slots: scratch u32[n]
//@ c: out u32[n]
//@ n: i32 = n
//@ sizes: n=64; n=320
//@ blocks: 32, 64
extern "C" __global__ void k(unsigned* slots, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned before = atomicExch(&slots[i], 7u);  //! uninitialised slots
        c[i] = before + 1;
    }
}
