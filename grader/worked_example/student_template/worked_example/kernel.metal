// Leaky ReLU, Metal: y[i] = x[i] where x[i] is positive, else slope * x[i], for every i below n.
//
// The grader dispatches max(1, ceil(n / BLOCK)) threadgroups of BLOCK threads. BLOCK is 256 here;
// other sizes are tried as well unless you declare your own:
//
//     constant constexpr uint BLOCK = 128;
//
// Try it:   grade submit worked_example

#include <metal_stdlib>
using namespace metal;

kernel void leaky_relu(device const float* x [[buffer(0)]],
                       device float* y [[buffer(1)]],
                       constant float& slope [[buffer(2)]],
                       constant uint& n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
    // 1. Which element is this thread's?
    // 2. Is there such an element?
    // 3. Compute it.
}
