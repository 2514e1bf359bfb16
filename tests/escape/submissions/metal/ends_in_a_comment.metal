// Attack: leave a comment open at the end, to swallow what is appended.
// Why it must fail: an open comment is an error of the compiler's.
// Expect: build_failed

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const int* A [[buffer(0)]],
                    device const int* B [[buffer(1)]],
                    device int* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    C[i] = A[i];
}
/*
