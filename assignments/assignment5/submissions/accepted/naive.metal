// expect: verdict=accepted
// expect: speed=0
// No tile: reads rows and writes columns. Right, and slow.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 32;
constant constexpr uint BLOCK_ROWS = 32;

kernel void transpose(device const float* input [[buffer(0)]], device float* output [[buffer(1)]],
                      constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 thread_at [[thread_position_in_threadgroup]]) {
    uint c = group.x * TILE + thread_at.x;
    uint r = group.y * TILE + thread_at.y;
    if (r < rows && c < cols) {
        output[c * rows + r] = input[r * cols + c];
    }
}
