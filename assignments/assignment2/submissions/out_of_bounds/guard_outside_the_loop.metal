// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=14 access=read buffer=x
// The first element is checked, the ones after it are not.

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
    if (i >= n) return;
    uint rounds = (n + threads - 1) / threads;
    for (uint round = 0; round < rounds; ++round) {
        y[i] = a * x[i] + y[i];
        i += threads;
    }
}
