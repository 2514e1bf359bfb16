// expect: verdict=accepted
// A template, instantiated under the name that the host asks for.
#include <metal_stdlib>
using namespace metal;

template <typename T>
[[kernel]] void add(device const T* A [[buffer(0)]], device const T* B [[buffer(1)]],
                    device T* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}

template [[host_name("vec_add")]] [[kernel]] void add<float>(device const float*, device const float*,
                                                             device float*, constant uint&, uint);
