// Attack: define away the words in which the contract is judged.
// Why it must fail: the entry's type is judged by the compiler, not by words.
// Expect: build_failed

#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const double* A [[buffer(0)]],
                    device const double* B [[buffer(1)]],
                    device double* C [[buffer(2)]],
                    constant ulong& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    C[0] = A[0];
}
#define static_assert(...)
#define _Static_assert(...)
#define static_cast
#define sizeof(...) 1
#define float double
#define uint ulong
