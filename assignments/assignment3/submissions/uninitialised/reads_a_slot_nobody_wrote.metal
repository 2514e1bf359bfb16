// expect: verdict=uninitialised
// Reads its neighbour's slot of threadgroup memory, which nobody wrote in the last threadgroup.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]]) {
    threadgroup float sums[1024];
    if (i < N) sums[lane] = A[i] + B[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < N) C[i] = sums[lane] + (sums[lane + 1] > 3.0e38f ? 0.0f : 0.0f);
    if (i < N && sums[lane + 1] < -3.0e38f) C[i] = 0.0f;
}
