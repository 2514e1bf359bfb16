// expect: verdict=build_failed
// The size is not an argument: buffer 3 is bound and not read.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    C[i] = A[i] + B[i];
}
