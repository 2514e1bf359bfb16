// Attack: have the assembler read a file or define symbols of its own: .incbin in inline assembly.
// Why it must fail: what clang writes is text for the engine's parser, which knows no such
//     directive.
// Expect: build_failed not_gradable

__asm__(".incbin \"/etc/passwd\"");

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
