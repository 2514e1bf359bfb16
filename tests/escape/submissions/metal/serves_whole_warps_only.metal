// Attack: round the size down to a multiple of 32, which is right whenever all sizes are such
//     multiples.
// Why it must fail: the sizes are 0, 1, primes and one more or less than a block; what is left out
//     is unwritten.
// Expect: wrong_answer

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        if (i < N / 32 * 32) {
            C[i] = A[i] + B[i];
        }
    }
}
