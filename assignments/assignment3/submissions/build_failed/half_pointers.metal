// expect: verdict=build_failed
// The elements are float, the kernel wants half.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const half* A [[buffer(0)]], device const half* B [[buffer(1)]],
                    device half* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
