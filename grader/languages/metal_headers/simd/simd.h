// <simd/simd.h> as a header shared with the host: the vector types under their simd names.
#pragma once
#include <metal_stdlib>

#define METAL_SIMD_NAMES(T, S)          \
  typedef T##2 simd_##S##2;             \
  typedef T##3 simd_##S##3;             \
  typedef T##4 simd_##S##4;             \
  typedef T##2 vector_##S##2;           \
  typedef T##3 vector_##S##3;           \
  typedef T##4 vector_##S##4;
METAL_SIMD_NAMES(float, float)
METAL_SIMD_NAMES(half, half)
METAL_SIMD_NAMES(char, char)
METAL_SIMD_NAMES(uchar, uchar)
METAL_SIMD_NAMES(short, short)
METAL_SIMD_NAMES(ushort, ushort)
METAL_SIMD_NAMES(int, int)
METAL_SIMD_NAMES(uint, uint)
#undef METAL_SIMD_NAMES
typedef float2x2 simd_float2x2;
typedef float3x3 simd_float3x3;
typedef float4x4 simd_float4x4;
typedef float2x2 matrix_float2x2;
typedef float3x3 matrix_float3x3;
typedef float4x4 matrix_float4x4;
namespace simd {
using namespace metal;
}
