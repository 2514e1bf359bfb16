// expect: verdict=accepted
// Every thread takes each element that is a whole grid away from its last one.
#include <metal_stdlib>
using namespace metal;

kernel void leaky_relu(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       constant float& slope [[buffer(2)]], constant uint& n [[buffer(3)]],
                       uint i [[thread_position_in_grid]],
                       uint threads [[threads_per_grid]]) {
    for (uint k = i; k < n; k += threads) {
        if (x[k] > 0.0f) {
            y[k] = x[k];
        } else {
            y[k] = slope * x[k];
        }
    }
}
