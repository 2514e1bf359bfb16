// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=18 access=read buffer=input
// expect: kind=out_of_bounds line=18 access=write buffer=output
// Reads and writes whole elements of whole tiles, whatever the size of the matrix.

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
    output[c * rows + r] = input[r * cols + c];
}
