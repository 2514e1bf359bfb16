// expect: verdict=accepted
// One element per thread in two dimensions.

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

kernel void bias_relu(device const float* x [[buffer(0)]], device const float* bias [[buffer(1)]],
                      device float* y [[buffer(2)]], constant uint& rows [[buffer(3)]],
                      constant uint& cols [[buffer(4)]], constant uint& stride [[buffer(5)]],
                      uint2 at [[thread_position_in_grid]]) {
    if (at.y < rows && at.x < cols) {
        float sum = x[at.y * stride + at.x] + bias[at.x];
        y[at.y * cols + at.x] = max(sum, 0.0f);
    }
}
