// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// simd_max and simd_sum cover one SIMD group; each goes on with its own.

#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint t [[thread_position_in_threadgroup]],
                    uint size [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    if (row >= rows) return;
    device const float* in = x + row * cols;
    device float* out = y + row * cols;
    float largest = -FLT_MAX, sum = 0.0f;
    for (uint c = t; c < cols; c += size) {
        largest = max(largest, in[c]);
    }
    largest = simd_max(largest);
    for (uint c = t; c < cols; c += size) {
        sum += exp(in[c] - largest);
    }
    sum = simd_sum(sum);
    for (uint c = t; c < cols; c += size) {
        out[c] = exp(in[c] - largest) / sum;
    }
}
