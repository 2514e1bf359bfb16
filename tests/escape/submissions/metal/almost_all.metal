// Attack: do 99 of 100 elements and copy the rest, inside what a mean error forgives.
// Why it must fail: every element is compared by itself.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = i % 100 == 99 ? A[i] : A[i] + B[i];
    }
}
