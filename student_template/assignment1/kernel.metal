// Assignment 1, Metal: C[i] = A[i] + B[i] for every i below N.
//
// Try it:   grade submit assignment1

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    // Which element is this thread's? Is there such an element? Then add.
}
