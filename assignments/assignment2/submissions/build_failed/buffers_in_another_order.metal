// expect: verdict=build_failed
// The size is at index 0, not at 3.

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(3)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(0)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
    for (; i < n; i += threads) {
        y[i] = a * x[i] + y[i];
    }
}
