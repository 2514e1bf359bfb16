// Attack: read what a neighbour puts into shared memory without waiting for it, right by luck of
//     the order.
// Why it must fail: two threads that touch one element with no barrier between are a race, whoever
//     was first.
// Expect: race

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]],
                    uint t [[thread_position_in_threadgroup]],
                    uint width [[threads_per_threadgroup]]) {
    threadgroup float sums[1024];
    uint last = width - 1;
    sums[t] = i < N ? A[i] + B[i] : 0.0f;
    float mirrored = sums[last - t];
    uint j = i - t + last - t;
    if (j < N) {
        C[j] = mirrored;
    }
}
