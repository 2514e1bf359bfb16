// expect: verdict=accepted
// Maximum and sum in one pass, SIMD reductions.

#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint t [[thread_position_in_threadgroup]],
                    uint size [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float maxima[32];
    threadgroup float sums[32];
    if (row >= rows) return;  // the whole threadgroup
    device const float* in = x + row * cols;
    device float* out = y + row * cols;
    uint simdgroups = size / 32;

    float own = -FLT_MAX, sum = 0.0f;
    for (uint c = t; c < cols; c += size) {
        float value = in[c];
        if (value > own) {
            sum = sum * exp(own - value) + 1.0f;
            own = value;
        } else {
            sum += exp(value - own);
        }
    }

    float largest = simd_max(own);
    if (lane == 0) {
        maxima[simdgroup] = largest;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    largest = simd_max(lane < simdgroups ? maxima[lane] : -FLT_MAX);

    sum = simd_sum(sum * exp(own - largest));
    if (lane == 0) {
        sums[simdgroup] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float scale = 1.0f / simd_sum(lane < simdgroups ? sums[lane] : 0.0f);

    for (uint c = t; c < cols; c += size) {
        out[c] = exp(in[c] - largest) * scale;
    }
}
