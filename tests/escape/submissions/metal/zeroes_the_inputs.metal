// Attack: set the inputs to zero, so that a reference computed from them afterwards is zero too.
// Why it must fail: writing an input is a fault, and the oracle has its own pristine copy.
// Expect: input_modified build_failed

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        const_cast<device float*>(A)[i] = 0.0f;
        const_cast<device float*>(B)[i] = 0.0f;
        C[i] = 0.0f;
    }
}
