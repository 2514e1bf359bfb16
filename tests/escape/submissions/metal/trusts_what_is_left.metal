// Attack: answer with what an earlier kernel left in shared memory, which may be the reference's
//     result.
// Why it must fail: shared memory that was never written has no value: using it is a fault.
// Expect: uninitialised wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]],
                    uint t [[thread_position_in_threadgroup]]) {
    threadgroup float left[1024];
    if (i < N) {
        C[i] = left[t];
    }
}
