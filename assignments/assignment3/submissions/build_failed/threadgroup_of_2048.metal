// expect: verdict=build_failed
// Metal runs no threadgroup of more than 1,024 threads.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint BLOCK = 2048;

[[max_total_threads_per_threadgroup(BLOCK)]]
kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint group [[threadgroup_position_in_grid]],
                    uint thread_in_group [[thread_position_in_threadgroup]]) {
    uint i = group * BLOCK + thread_in_group;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
