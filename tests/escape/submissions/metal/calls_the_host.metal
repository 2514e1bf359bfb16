// Attack: declare functions of the C library, in the hope that the engine links them.
// Why it must fail: a name that the module does not define is not looked up in the host's process.
// Expect: build_failed not_gradable

extern "C" int system(const char* command);

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i == 0) {
        system("touch /tmp/grade-escaped");
    }
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
