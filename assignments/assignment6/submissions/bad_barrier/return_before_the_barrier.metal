// expect: verdict=bad_barrier
// Threads without an element return, and the others wait for them.

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
    threadgroup float s[1024];
    if (i >= n) return;
    float sum = 0.0f;
    for (; i < n; i += threads) {
        sum += x[i];
    }
    s[t] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) {
            s[t] += s[t + half_size];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) {
        atomic_fetch_add_explicit(total, s[0], memory_order_relaxed);
    }
}
