// expect: verdict=accepted
// Every thread takes each element that is a whole grid away from its last one.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]],
                    uint threads [[threads_per_grid]]) {
    for (uint k = i; k < N; k += threads) {
        C[k] = A[k] + B[k];
    }
}
