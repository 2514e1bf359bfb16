// expect: verdict=accepted
// expect: speed=0
// No tiles: every thread fetches a row of A and a column of B for itself.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 16;

kernel void matmul(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                   device float* C [[buffer(2)]], constant uint& M [[buffer(3)]],
                   constant uint& N [[buffer(4)]], constant uint& K [[buffer(5)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint2 t [[thread_position_in_threadgroup]]) {
    uint row = group.y * TILE + t.y;
    uint col = group.x * TILE + t.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (uint k = 0; k < K; ++k) {
            sum = fma(A[row * K + k], B[k * N + col], sum);
        }
        C[row * N + col] = sum;
    }
}
