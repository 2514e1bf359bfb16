// Attack: leave out one block in the middle, as a check of every other block would never see.
// Why it must fail: every element is compared, and elements that were never written are known as
//     such.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        if (i / 256 != 1) {
            C[i] = A[i] + B[i];
        }
    }
}
