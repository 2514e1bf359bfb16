// Attack: leave the output alone, so that a right answer left in reused memory counts.
// Why it must fail: the reference runs elsewhere, and elements that were never written are known
//     as such.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
}
