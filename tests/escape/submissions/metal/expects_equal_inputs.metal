// Attack: double one input, which is right when both are filled alike.
// Why it must fail: the inputs are drawn independently, and there are none of ones or ramps alone.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = 2.0f * A[i];
    }
}
