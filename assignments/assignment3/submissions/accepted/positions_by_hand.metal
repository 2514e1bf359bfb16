// expect: verdict=accepted
// Computes the index from the positions of the threadgroup and the thread.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint group [[threadgroup_position_in_grid]],
                    uint size [[threads_per_threadgroup]],
                    uint thread_in_group [[thread_position_in_threadgroup]]) {
    uint i = group * size + thread_in_group;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
