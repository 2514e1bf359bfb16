// Attack: threadgroup memory of a gigabyte.
// Why it must fail: what a launch may have is checked before it is allocated.
// Expect: build_failed not_gradable bad_host_call

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    threadgroup float tile[1 << 28];
    tile[i % (1 << 28)] = A[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < N) {
        C[i] = tile[i % (1 << 28)] + B[i];
    }
}
