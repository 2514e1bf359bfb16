// Attack: a template that instantiates itself twice, for ever.
// Why it must fail: the compiler has a limit of depth, time and memory.
// Expect: build_failed

template <int N, int M>
struct Bomb {
    static constexpr int value = Bomb<N + 1, 2 * M>::value + Bomb<N + 1, 2 * M + 1>::value;
};
constant int bomb = Bomb<0, 1>::value;

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
