// Assignment 2, Metal: y[i] = a * x[i] + y[i] for every i below n, by a grid of any size.
//
// Try it:   grade submit assignment2

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
    // This does one element per thread. What if there are more elements than threads?
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
