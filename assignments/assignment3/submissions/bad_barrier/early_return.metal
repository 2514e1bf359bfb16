// expect: verdict=bad_barrier
// Threads without an element return before a barrier that the others reach: an error in Metal.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    threadgroup_barrier(mem_flags::mem_device);
    C[i] = A[i] + B[i];
}
