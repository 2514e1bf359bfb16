// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=12 access=read buffer=A
// Counts elements from 1: the first thread reads A[-1].
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        float b = B[i];
        C[i] = A[int(i) - 1] + b;
    }
}
