// Ping-pong: the second half reads the buffer that nothing was written to.
//@ a: in i32[n]
//@ ping: scratch i32[n]
//@ pong: scratch i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(const int* a, int* ping, int* pong, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        ping[i] = a[i] + 1;
        c[i] = pong[i] * 2;  //! uninitialised
    }
}
