// Attack: compute once, keep the answer in memory that outlives the launch, and copy it from then
//     on.
// Why it must fail: every run starts from a fresh module and fresh memory; what is left is an
//     honest kernel. (A Mac refuses to compile it.)
// Expect: accepted build_failed

#include <metal_stdlib>
using namespace metal;

device float saved[1 << 20];
device bool known[1 << 20];

kernel void vec_add(device const float* A [[buffer(0)]],
                    device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]],
                    constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        if (!known[i]) {
            saved[i] = A[i] + B[i];
            known[i] = true;
        }
        C[i] = saved[i];
    }
}
