// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=y
// a goes through an int and loses its fraction.

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
    int factor = a;
    for (; i < n; i += threads) {
        y[i] = factor * x[i] + y[i];
    }
}
