// Attack: write NaN, which equals nothing and so differs from nothing in a careless comparison.
// Why it must fail: a NaN counts as right only where the oracle has one; here it has none.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i] + NAN;
    }
}
