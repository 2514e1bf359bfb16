// expect: verdict=wrong_answer
// expect: kind=mismatch buffer=C
// The tiles hold half.

#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 16;

kernel void matmul(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                   device float* C [[buffer(2)]], constant uint& M [[buffer(3)]],
                   constant uint& N [[buffer(4)]], constant uint& K [[buffer(5)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup half a[TILE][TILE];
    threadgroup half b[TILE][TILE];
    uint row = group.y * TILE + t.y;
    uint col = group.x * TILE + t.x;
    float sum = 0.0f;
    for (uint start = 0; start < K; start += TILE) {
        a[t.y][t.x] = row < M && start + t.x < K ? half(A[row * K + start + t.x]) : 0.0h;
        b[t.y][t.x] = start + t.y < K && col < N ? half(B[(start + t.y) * N + col]) : 0.0h;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < TILE; ++k) {
            sum += float(a[t.y][k]) * float(b[k][t.x]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
