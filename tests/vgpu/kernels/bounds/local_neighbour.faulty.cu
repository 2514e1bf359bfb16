// A loop over six elements of a local array of four: it runs into the array beside it.
//@ a: in i32[n]
//@ c: out i32[n]
//@ n: i32 = n
//@ length: i32 = 6
//@ sizes: n=11; n=101; n=500
extern "C" __global__ void k(const int* a, int* c, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int first[4] = {1, 2, 3, 4};
    int second[8] = {5, 6, 7, 8, 9, 10, 11, 12};
    first[i % 4] = second[i % 8] = a[i];
    int sum = second[a[i] % 8];
    for (int j = 0; j < length; j++) sum += first[j];  //! out_of_bounds first
    c[i] = sum;
}
