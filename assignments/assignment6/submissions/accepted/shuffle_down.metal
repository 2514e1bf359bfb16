// expect: verdict=accepted
// Halves the distance between lanes; every SIMD group adds its sum.

#include <metal_stdlib>
using namespace metal;

kernel void reduce_sum(device const float* x [[buffer(0)]], device atomic_float* total [[buffer(1)]],
                       device float* partial [[buffer(2)]], device atomic_uint* arrived [[buffer(3)]],
                       constant uint& n [[buffer(4)]], uint i [[thread_position_in_grid]],
                       uint threads [[threads_per_grid]],
                       uint t [[thread_position_in_threadgroup]],
                       uint size [[threads_per_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    float sum = 0.0f;
    for (; i < n; i += threads) {
        sum += x[i];
    }
    for (ushort offset = 16; offset > 0; offset /= 2) {
        sum += simd_shuffle_down(sum, offset);
    }
    if (lane == 0) {
        atomic_fetch_add_explicit(total, sum, memory_order_relaxed);
    }
}
