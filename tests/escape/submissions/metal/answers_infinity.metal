// Attack: write infinities, which make every absolute bound that grows with the answer infinite
//     too.
// Why it must fail: the bound grows with the oracle's values, and an infinity is right only where
//     the oracle has the same.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = i % 2 ? INFINITY : -INFINITY;
    }
}
