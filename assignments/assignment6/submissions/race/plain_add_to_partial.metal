// expect: verdict=race
// expect: kind=race line=25 buffer=partial
// All threads of a group add to one element of a buffer without an atomic.

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
    if (t == 0) {
        partial[i / size] = 0.0f;
    }
    threadgroup_barrier(mem_flags::mem_device);
    uint group = i / size;
    float sum = 0.0f;
    for (; i < n; i += threads) {
        sum += x[i];
    }
    partial[group] += sum;
    threadgroup_barrier(mem_flags::mem_device);
    if (t == 0) {
        atomic_fetch_add_explicit(total, partial[group], memory_order_relaxed);
    }
}
