// Attack: claim by #line that the fault is in a file of the grader's, so that the report quotes
//     it.
// Why it must fail: a report quotes the text that was handed in and opens no file by a name from a
//     kernel.
// Expect: out_of_bounds

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
#line 1 "/etc/passwd"
    C[i + N] = A[i] + B[i];
}
