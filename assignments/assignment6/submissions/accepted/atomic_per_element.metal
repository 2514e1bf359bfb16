// expect: verdict=accepted
// expect: speed=0
// One atomic for each element: right, and every one of them waits for the others.

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
    for (; i < n; i += threads) {
        atomic_fetch_add_explicit(total, x[i], memory_order_relaxed);
    }
}
