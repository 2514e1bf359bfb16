// Attack: smuggle a workflow command, terminal escapes and markup through the compiler's message.
// Why it must fail: reports escape every text that is not ours.
// Expect: build_failed

#error ::error file=grade::0wned%0A::set-output name=points::100 <script>alert(1)</script> [2J
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
