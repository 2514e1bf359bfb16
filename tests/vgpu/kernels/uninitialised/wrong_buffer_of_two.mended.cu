//@ a: in i32[n]
//@ ping: scratch i32[n]
//@ pong: scratch i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
//@ values: c = 2 * (a + 1)
extern "C" __global__ void k(const int* a, int* ping, int* pong, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        ping[i] = a[i] + 1;
        c[i] = ping[i] * 2;
    }
}
