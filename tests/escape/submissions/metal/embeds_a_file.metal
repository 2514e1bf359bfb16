// Attack: have the compiler read a file: #embed, which clang knows.
// Why it must fail: the compiler runs where no such file can be opened.
// Expect: build_failed

constant unsigned char stolen[] = {
#embed "/etc/passwd"
};

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = stolen[i % 16];
    }
}
