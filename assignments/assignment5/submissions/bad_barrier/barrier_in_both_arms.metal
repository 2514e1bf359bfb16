// expect: verdict=bad_barrier
// expect: kind=bad_barrier
// Two barriers are not one: the threads of the two arms wait for each other in different places.

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
    if (r < rows && c < cols) {
        tile[thread_at.y][thread_at.x] = input[r * cols + c];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    } else {
        tile[thread_at.y][thread_at.x] = 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    uint out_c = group.y * TILE + thread_at.x;
    uint out_r = group.x * TILE + thread_at.y;
    if (out_r < cols && out_c < rows) {
        output[out_r * rows + out_c] = tile[thread_at.x][thread_at.y];
    }
}
