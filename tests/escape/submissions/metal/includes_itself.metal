// Attack: a file that includes itself until memory is gone.
// Why it must fail: the compiler bounds the depth; where it does not, its process is bounded.
// Expect: build_failed accepted

#include "includes_itself.metal"

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
