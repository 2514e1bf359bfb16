// Attack: have no guard, so that the last block reads and writes past the end, which a card
//     forgives.
// Why it must fail: every access is checked against its buffer, and sizes are no multiples of the
//     block.
// Expect: out_of_bounds

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    C[i] = A[i] + B[i];
}
