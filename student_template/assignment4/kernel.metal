// Assignment 4, Metal: a broadcast add, and bias + ReLU in one kernel.
//
// Threadgroups have BLOCK_X by BLOCK_Y threads, 32 by 4 unless you declare them:
//
//     constant constexpr uint BLOCK_X = 32, BLOCK_Y = 4;
//
// Try it:   grade submit assignment4

#include <metal_stdlib>
using namespace metal;

kernel void broadcast_add(device const float* column [[buffer(0)]],
                          device const float* row [[buffer(1)]], device float* grid [[buffer(2)]],
                          constant uint& rows [[buffer(3)]], constant uint& cols [[buffer(4)]],
                          uint2 at [[thread_position_in_grid]]) {
    // grid[r][c] = column[r] + row[c]
}

kernel void bias_relu(device const float* x [[buffer(0)]], device const float* bias [[buffer(1)]],
                      device float* y [[buffer(2)]], constant uint& rows [[buffer(3)]],
                      constant uint& cols [[buffer(4)]], constant uint& stride [[buffer(5)]],
                      uint2 at [[thread_position_in_grid]]) {
    // y[r][c] = max(x[r][c] + bias[c], 0); rows of x are stride apart, rows of y are cols apart
}
