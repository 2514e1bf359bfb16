// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=12 access=write buffer=C
// uint2 over a grid of one dimension: y is always 0, and the width is guessed.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint2 at [[thread_position_in_grid]]) {
    uint i = at.y * 1024 + at.x;
    if (at.x < 1024) {
        C[i] = A[i] + B[i];
    }
}
