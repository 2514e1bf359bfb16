// An exchange takes out what was put in; another takes out nothing that anybody uses.
//@ slots: scratch u32[n]
//@ c: out u32[n]
//@ n: i32 = n
//@ sizes: n=64; n=320
//@ blocks: 32, 64
extern "C" __global__ void k(unsigned* slots, unsigned* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicExch(&slots[i], 3u);
        unsigned before = atomicExch(&slots[i], 7u);
        c[i] = before + 1;
    }
}
