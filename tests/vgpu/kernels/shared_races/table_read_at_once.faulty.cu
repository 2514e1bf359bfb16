// One thread fills a table and all read it without waiting.
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=100; n=101; n=500
extern "C" __global__ void k(int* c, int n) {
    __shared__ int table[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        for (int j = 0; j < 8; j++) table[j] = j * j;  //! race table
    if (i < n) c[i] = table[i % 8];  //! race table //? uninitialised table
}
