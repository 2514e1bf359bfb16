// expect: verdict=accepted
// Spells the namespace out, and kernel as an attribute.
#include <metal_stdlib>

[[kernel]] void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    metal::uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    C[i] = metal::fma(A[i], 1.0f, B[i]);
}
