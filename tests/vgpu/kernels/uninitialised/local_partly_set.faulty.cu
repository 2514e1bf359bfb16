// Two of four local values are set; all four may be picked.
//@ pick: in i32[n] = np.arange(n) % 4
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=70; n=101; n=333
extern "C" __global__ void k(const int* pick, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int values[4];
    for (int j = 0; j < 4; j += 2) values[j] = i + j;
    c[i] = values[pick[i]];  //! uninitialised
}
