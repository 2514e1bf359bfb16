// expect: verdict=accepted
// Takes a detour through threadgroup memory; each thread reads back what it wrote itself.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]]) {
    threadgroup float sums[1024];
    sums[lane] = i < N ? A[i] + B[i] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < N) {
        C[i] = sums[lane];
    }
}
