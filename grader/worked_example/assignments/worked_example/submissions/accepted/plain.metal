// expect: verdict=accepted
// One thread per element, and select() in place of the branch.
#include <metal_stdlib>
using namespace metal;

kernel void leaky_relu(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       constant float& slope [[buffer(2)]], constant uint& n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
    if (i >= n) return;
    y[i] = select(slope * x[i], x[i], x[i] > 0.0f);
}
