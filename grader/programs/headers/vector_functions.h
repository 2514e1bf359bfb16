// make_float4 and its kin.
#pragma once
#define __VECTOR_FUNCTIONS_H__
#include "vector_types.h"
#define GRADE_MAKE(name, T)                                                                     \
  static __host__ __device__ inline name##1 make_##name##1(T x) { return {x}; }                 \
  static __host__ __device__ inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  static __host__ __device__ inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static __host__ __device__ inline name##4 make_##name##4(T x, T y, T z, T w) {                \
    return {x, y, z, w};                                                                        \
  }
GRADE_MAKE(char, signed char)
GRADE_MAKE(uchar, unsigned char)
GRADE_MAKE(short, short)
GRADE_MAKE(ushort, unsigned short)
GRADE_MAKE(int, int)
GRADE_MAKE(uint, unsigned int)
GRADE_MAKE(long, long)
GRADE_MAKE(ulong, unsigned long)
GRADE_MAKE(longlong, long long)
GRADE_MAKE(ulonglong, unsigned long long)
GRADE_MAKE(float, float)
GRADE_MAKE(double, double)
#undef GRADE_MAKE
