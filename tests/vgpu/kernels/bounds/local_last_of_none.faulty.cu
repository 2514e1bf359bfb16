// The last of `count` values, where count may be 0: index -1 of a local array.
//@ count: in i32[n] = np.arange(n) % 5
//@ c: out i32[n]
//@ n: i32 = n
//@ sizes: n=11; n=101; n=500
extern "C" __global__ void k(const int* count, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int values[4] = {10, 20, 30, 40};
    for (int j = 0; j < 4; j++) values[j] += i;
    c[i] = values[count[i] - 1];  //! out_of_bounds values
}
