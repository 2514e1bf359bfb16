// expect: verdict=build_failed
// CUDA C in a .metal file.
#include <metal_stdlib>
using namespace metal;

__global__ void vec_add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
