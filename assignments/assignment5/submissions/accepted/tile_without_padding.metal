// expect: verdict=accepted
// expect: speed="<= 17"
// Coalesced, but a column of the tile lies in one bank.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 32;
constant constexpr uint BLOCK_ROWS = 8;

kernel void transpose(device const float* input [[buffer(0)]], device float* output [[buffer(1)]],
                      constant uint& rows [[buffer(2)]], constant uint& cols [[buffer(3)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 thread_at [[thread_position_in_threadgroup]]) {
    threadgroup float tile[TILE][TILE];

    uint c = group.x * TILE + thread_at.x;
    uint r = group.y * TILE + thread_at.y;
    for (uint k = 0; k < TILE; k += BLOCK_ROWS) {
        if (r + k < rows && c < cols) {
            tile[thread_at.y + k][thread_at.x] = input[(r + k) * cols + c];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    uint out_c = group.y * TILE + thread_at.x;
    uint out_r = group.x * TILE + thread_at.y;
    for (uint k = 0; k < TILE; k += BLOCK_ROWS) {
        if (out_r + k < cols && out_c < rows) {
            output[(out_r + k) * rows + out_c] = tile[thread_at.x][thread_at.y + k];
        }
    }
}
