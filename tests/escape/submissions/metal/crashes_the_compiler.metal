// Attack: crash clang by the pragma that exists for it.
// Why it must fail: a compiler that dies on a file has not built it; the grader is another
//     process.
// Expect: build_failed

#pragma clang __debug crash

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
