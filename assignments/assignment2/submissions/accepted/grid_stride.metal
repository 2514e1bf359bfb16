// expect: verdict=accepted
// The loop of the lesson.

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
    for (; i < n; i += threads) {
        y[i] = a * x[i] + y[i];
    }
}
