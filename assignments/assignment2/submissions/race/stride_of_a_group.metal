// expect: verdict=race
// expect: kind=race line=13 buffer=y
// Steps by the threadgroup, so every group does all that follows its first element, on top of the
// others.

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_threadgroup]]) {
    for (; i < n; i += threads) {
        y[i] = a * x[i] + y[i];
    }
}
