// Attack: close the function from inline assembly and write an entry of its own behind it.
// Why it must fail: the text of a kernel is parsed, not trusted; a second entry is not the one
//     that is launched.
// Expect: build_failed not_gradable wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    __asm__ volatile("ret;\n}\n.visible .entry stolen(.param .u64 p) {\n.reg .b32 %fake;");
    if (i < N) {
        C[i] = 0.0f;
    }
}
