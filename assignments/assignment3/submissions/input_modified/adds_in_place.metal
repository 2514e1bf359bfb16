// expect: verdict=input_modified
// expect: kind=input_modified line=11 buffer=A
// Adds into A and copies it to C.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        A[i] += B[i];
        C[i] = A[i];
    }
}
