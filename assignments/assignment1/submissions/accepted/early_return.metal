// expect: verdict=accepted
// The same with the guard first and the position worked out by hand.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint BLOCK = 128;

kernel void vec_add(const device float* first [[buffer(0)]], const device float* second [[buffer(1)]],
                    device float* sum [[buffer(2)]], constant uint& count [[buffer(3)]],
                    uint group [[threadgroup_position_in_grid]],
                    uint thread_in_group [[thread_position_in_threadgroup]]) {
    const uint element = group * BLOCK + thread_in_group;
    if (element >= count) return;
    sum[element] = first[element] + second[element];
}
