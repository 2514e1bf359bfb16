// Attack: spell the kernel so that no text filter recognises it.
// Why it must fail: nothing is judged by its text: this is an honest kernel in disguise.
// Expect: accepted

#define PASTE(a, b) a##b
#define KERNEL PASTE(__glo, bal__)
#define NAME PASTE(vec, _add)

KERNEL void NAME(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];  // it's "quoted' # here
    }
}
