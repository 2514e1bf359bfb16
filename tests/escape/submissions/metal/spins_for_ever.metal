// Attack: never end.
// Why it must fail: the loop runs out of fuel, on every machine alike.
// Expect: timed_out

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    device volatile float* out = C;
    while (N >= 0) {
        out[i] = 1.0f;
    }
}
