// expect: verdict=wrong_answer
// The tree for the maximum starts at a quarter: half of the row is never compared.

#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint t [[thread_position_in_threadgroup]],
                    uint size [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float s[1024];
    if (row >= rows) return;
    device const float* in = x + row * cols;
    device float* out = y + row * cols;
    float largest = -FLT_MAX;
    for (uint c = t; c < cols; c += size) {
        largest = max(largest, in[c]);
    }
    s[t] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 4; step > 0; step /= 2) {
        if (t < step) s[t] = max(s[t], s[t + step]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    largest = s[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // everybody has read s[0]
    float sum = 0.0f;
    for (uint c = t; c < cols; c += size) {
        sum += exp(in[c] - largest);
    }
    s[t] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    sum = s[0];
    for (uint c = t; c < cols; c += size) {
        out[c] = exp(in[c] - largest) / sum;
    }
}
