// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=13 access=write buffer=C
// Four elements per thread, and the guard counts rounded up.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (4 * i < N) {
        device const float4* a = (device const float4*)A;
        device const float4* b = (device const float4*)B;
        ((device float4*)C)[i] = a[i] + b[i];
    }
}
