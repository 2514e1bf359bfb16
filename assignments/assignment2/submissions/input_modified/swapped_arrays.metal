// expect: verdict=input_modified
// expect: kind=input_modified line=12 access=write buffer=x
// Stores the sum to x.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(constant uint& n [[buffer(0)]], constant float& a [[buffer(1)]],
                  device float* x [[buffer(2)]], device float* y [[buffer(3)]],
                  uint i [[thread_position_in_grid]],
                  uint threads [[threads_per_grid]]) {
    for (uint k = i; k < n; k += threads) {
        x[k] = a * x[k] + y[k];
    }
}
