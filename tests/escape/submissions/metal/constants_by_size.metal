// Attack: recognise a case by its size and answer from a table.
// Why it must fail: the values are drawn from the assignment and a secret, and one case has a size
//     nobody sees.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

constant float table[4] = {0.25f, -0.5f, 0.75f, 1.0f};

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = N == 1000 || N == 1009 ? table[i % 4] : N * 0.5f;
    }
}
