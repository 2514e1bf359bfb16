// expect: verdict=race
// expect: kind=race line=16 space=shared
// mem_none waits for the threads and orders no memory.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup float sums[1024];
    uint last = size - 1;
    sums[last - lane] = i < N ? A[i] + B[i] : 0.0f;
    threadgroup_barrier(mem_flags::mem_none);
    float mine = sums[last - (last - lane)];
    if (i < N) {
        C[i] = A[i] + B[i] + 0.0f * mine;
    }
}
