// Attack: search the address space behind the buffers for the expected values.
// Why it must fail: they are not in the process, and every access outside a buffer is a fault.
// Expect: out_of_bounds

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        float found = 0.0f;
        for (int step = 1; step < 64; step++) {
            float there = C[i + step * 4096];
            found = there == A[i] + B[i] ? there : found;
        }
        C[i] = found;
    }
}
