// Neighbours are put in order inside the input buffer.
//@ a: in i32[2 * n]
//@ c: out i32[2 * n]
//@ n: i32 = n
//@ sizes: n=2; n=101; n=400
extern "C" __global__ void k(int* a, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = a[2 * i], high = a[2 * i + 1];
    if (low > high) {
        a[2 * i] = high;  //! input_modified a
        a[2 * i + 1] = low;  //! input_modified a
    }
    c[2 * i] = min(low, high);
    c[2 * i + 1] = max(low, high);
}
