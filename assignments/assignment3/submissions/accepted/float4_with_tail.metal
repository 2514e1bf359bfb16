// expect: verdict=accepted
// Four elements per thread through float4, and the last N % 4 one by one.
// Buffers start at an address that is a multiple of 16, so every float4 is aligned.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    uint quads = N / 4;
    if (i < quads) {
        device const float4* a = (device const float4*)A;
        device const float4* b = (device const float4*)B;
        ((device float4*)C)[i] = a[i] + b[i];
    }
    uint tail = 4 * quads + i;
    if (tail < N) {
        C[tail] = A[tail] + B[tail];
    }
}
