// Attack: write zeros, which pass wherever the true values are below an absolute tolerance.
// Why it must fail: the tolerance follows the size of the values, and they are random.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = 0.0f;
    }
}
