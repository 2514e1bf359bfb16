// Assignment 6, Metal: total[0] = the sum of x[0] to x[n-1].
//
// `total` and `arrived` are zero when the kernel starts. A few threadgroups of BLOCK threads are
// dispatched (256 unless you declare it).
//
// Try it:   grade submit assignment6

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
    // 1. Add this thread's share of x in a register.
    // 2. Add the shares of the threadgroup.
    // 3. Add the sums of the threadgroups.
}
