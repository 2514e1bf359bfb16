// Sum: a grid-stride loop in registers, simd_sum inside a SIMD group, threadgroup memory between them,
// and one atomic for each threadgroup.

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
    threadgroup float sums[32];
    float sum = 0.0f;
    for (; i < n; i += threads) {
        sum += x[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        sums[simdgroup] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        sum = simd_sum(lane < size / 32 ? sums[lane] : 0.0f);
        if (lane == 0) {
            atomic_fetch_add_explicit(total, sum, memory_order_relaxed);
        }
    }
}
