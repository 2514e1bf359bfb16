// expect: verdict=race
// expect: kind=race line=13 space=shared
// All threads of a group add into the same threadgroup variable.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    threadgroup float sum;
    sum = 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += 1.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < N) {
        C[i] = A[i] + B[i] + 0.0f * sum;
    }
}
