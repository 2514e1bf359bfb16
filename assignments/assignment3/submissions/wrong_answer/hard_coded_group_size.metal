// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Assumes 256 threads without declaring BLOCK: with groups of 128 every other half is missing.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint group [[threadgroup_position_in_grid]],
                    uint lane [[thread_position_in_threadgroup]]) {
    uint i = group * 256 + lane;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
