// Attack: a file that includes itself until memory is gone.
// Why it must fail: the compiler bounds the depth; where it does not, its process is bounded.
// Expect: build_failed accepted

#include "includes_itself.cu"

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
