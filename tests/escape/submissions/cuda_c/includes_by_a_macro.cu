// Attack: include a file outside by a computed name, past a filter that looks for quotes.
// Why it must fail: the compiler runs where no such file can be opened.
// Expect: build_failed

#define PATH </etc/passwd>
#include PATH

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
