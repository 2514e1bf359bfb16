// Attack: compute in half precision, which is faster.
// Why it must fail: the tolerance for float32 is one that no half-precision result can meet.
// Expect: wrong_answer

#include <cuda_fp16.h>

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = __half2float(__hadd(__float2half(A[i]), __float2half(B[i])));
    }
}
