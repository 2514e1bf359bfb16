// Attack: spell the kernel so that no text filter recognises it.
// Why it must fail: nothing is judged by its text: this is an honest kernel in disguise.
// Expect: accepted

#include <metal_stdlib>
using namespace metal;

#define PASTE(a, b) a##b
#define KERNEL PASTE(ker, nel)
#define NAME PASTE(vec, _add)

KERNEL void NAME(device const float* A [[buffer(0)]],
                 device const float* B [[buffer(1)]],
                 device float* C [[buffer(2)]],
                 constant uint& N [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i];  // it's "quoted' # here
    }
}
