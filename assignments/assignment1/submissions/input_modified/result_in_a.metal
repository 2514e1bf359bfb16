// expect: verdict=input_modified
// expect: kind=input_modified line=11 access=write buffer=A
// Stores to A, which the kernel declares without const; C stays empty.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        A[i] = A[i] + B[i];
    }
}
