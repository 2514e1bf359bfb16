// Attack: include a file outside by a computed name, past a filter that looks for quotes.
// Why it must fail: the compiler runs where no such file can be opened.
// Expect: build_failed

#define PATH </etc/passwd>
#include PATH

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
