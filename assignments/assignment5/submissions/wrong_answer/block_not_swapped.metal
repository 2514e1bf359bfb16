// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=output
// The tile is turned, but it stays where it was.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 32;
constant constexpr uint BLOCK_ROWS = 32;

kernel void transpose(device const float* input [[buffer(0)]], device float* output [[buffer(1)]],
                      constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 thread_at [[thread_position_in_threadgroup]]) {
    threadgroup float tile[TILE][TILE + 1];
    uint c = group.x * TILE + thread_at.x;
    uint r = group.y * TILE + thread_at.y;
    tile[thread_at.y][thread_at.x] = r < rows && c < cols ? input[r * cols + c] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (c < rows && r < cols) {
        output[r * rows + c] = tile[thread_at.x][thread_at.y];
    }
}
