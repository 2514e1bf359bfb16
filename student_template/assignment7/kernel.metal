// Assignment 7, Metal: C = A x B. A is M by K, B is K by N, C is M by N, all row by row.
//
// Threadgroups have TILE by TILE threads; the grid covers the columns of C in x and its rows in y.
//
// Try it:   grade submit assignment7

#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 16;

kernel void matmul(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                   device float* C [[buffer(2)]], constant uint& M [[buffer(3)]],
                   constant uint& N [[buffer(4)]], constant uint& K [[buffer(5)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float a[TILE][TILE];
    threadgroup float b[TILE][TILE];
    // For each pair of tiles along K: load them, wait, multiply, wait.
}
