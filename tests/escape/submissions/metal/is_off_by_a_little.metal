// Attack: be off by a tenth everywhere, inside the absolute tolerance of 0.2 that a grader once
//     had.
// Why it must fail: the tolerance is the rounding of one float32 addition.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i] + 0.1f;
    }
}
