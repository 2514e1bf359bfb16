// expect: verdict=timed_out
// Spins until a flag is set that only its own thread would set, after the loop.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    threadgroup atomic_int ready;
    if (i >= N) return;
    atomic_store_explicit(&ready, 0, memory_order_relaxed);
    while (atomic_load_explicit(&ready, memory_order_relaxed) == 0) {
    }
    C[i] = A[i] + B[i];
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
}
