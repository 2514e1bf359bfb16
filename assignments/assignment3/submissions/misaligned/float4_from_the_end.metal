// expect: verdict=misaligned
// expect: kind=misaligned line=13 access=read buffer=A
// The last four elements as one float4: its address is a multiple of 16 for some N only.
#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    C[i] = A[i] + B[i];
    if (i == 0 && N >= 4) {
        float4 a = *(device const float4*)(A + N - 4);
        C[N - 1] = a.w + B[N - 1];
    }
}
