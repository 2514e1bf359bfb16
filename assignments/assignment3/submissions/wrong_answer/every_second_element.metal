// expect: verdict=wrong_answer
// expect: kind=unwritten buffer=C
// Steps by two without two elements per thread.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    uint k = 2 * i;
    if (k < N) {
        C[k] = A[k] + B[k];
    }
}
