// expect: verdict=crashed
// expect: kind=assertion line=9
// Asserts what the guard should have made sure of.

#include <cassert>

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < N);
    C[i] = A[i] + B[i];
}
