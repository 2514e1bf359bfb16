// expect: verdict=accepted
// expect: speed="<= 3"
// Each thread takes a run of neighbouring elements: right, but memory moves much more than it uses.

#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device const float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
    uint run = (n + threads - 1) / threads;
    uint end = min(n, (i + 1) * run);
    for (uint k = i * run; k < end; ++k) {
        y[k] = fma(a, x[k], y[k]);
    }
}
