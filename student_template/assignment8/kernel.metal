// Assignment 8, Metal: y[r][c] = exp(x[r][c] - max of row r) / sum of those over row r.
//
// One threadgroup of BLOCK threads for each row (256 unless you declare it).
//
// Try it:   grade submit assignment8

#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint t [[thread_position_in_threadgroup]],
                    uint size [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    // 1. The maximum of the row.
    // 2. The sum of exp(x - maximum).
    // 3. The weights.
}
