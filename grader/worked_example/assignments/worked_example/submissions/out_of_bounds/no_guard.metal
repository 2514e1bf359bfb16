// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=11 access=read buffer=x
// expect: kind=out_of_bounds line=12 access=write buffer=y
// The last threadgroup has threads without an element.
#include <metal_stdlib>
using namespace metal;

kernel void leaky_relu(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       constant float& slope [[buffer(2)]], constant uint& n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
    float value = x[i];
    y[i] = value > 0.0f ? value : slope * value;
}
