// expect: verdict=timed_out
// `while` where `if` was meant: nothing in the loop changes i.

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    while (i < N) {
        C[i] = A[i] + B[i];
    }
}
