// expect: verdict=build_failed
// Only one of the two kernels is there.

#include <metal_stdlib>
using namespace metal;

kernel void broadcast_add(device const float* column [[buffer(0)]],
                          device const float* row [[buffer(1)]], device float* grid [[buffer(2)]],
                          constant uint& rows [[buffer(3)]], constant uint& cols [[buffer(4)]],
                          uint2 at [[thread_position_in_grid]]) {
    if (at.y < rows && at.x < cols) {
        grid[at.y * cols + at.x] = column[at.y] + row[at.x];
    }
}
