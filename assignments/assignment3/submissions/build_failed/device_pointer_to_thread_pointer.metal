// expect: verdict=build_failed
// A helper takes pointers to thread memory and is given device memory.
#include <metal_stdlib>
using namespace metal;

float sum(thread const float* a, thread const float* b) {
    return *a + *b;
}

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = sum(A + i, B + i);
    }
}
