// expect: verdict=build_failed
// The word kernel is missing.
#include <metal_stdlib>
using namespace metal;

void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i) {
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
