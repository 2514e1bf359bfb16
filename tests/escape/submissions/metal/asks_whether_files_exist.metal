// Attack: leak one bit of the grader's disk per compilation through __has_include and __has_embed.
// Why it must fail: in the compiler's process those files do not exist.
// Expect: accepted build_failed

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
#if __has_include("/etc/shadow") || __has_embed("/etc/shadow")
    C[i] = 1e30f;
#else
    if (i < N) {
        C[i] = A[i] + B[i];
    }
#endif
}
