// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Counts from 1: nobody does element 0.

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    i = i + 1;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
