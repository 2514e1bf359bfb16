// A word read one byte into the last element: it leaves the buffer too, but a GPU traps for the
// address first.
//@ a: in i32[n]
//@ c: out i32[n] = 0
//@ n: i32 = n
//@ sizes: n=1; n=33; n=201
extern "C" __global__ void k(const int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = i + 1 == n ? *(const int*)((const char*)(a + i) + 1) : a[i];  //! misaligned a
}
