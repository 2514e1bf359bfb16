// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=C
// The sum goes through an int and loses its fraction.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        int sum = A[i] + B[i];
        C[i] = sum;
    }
}
