// Vector types with CUDA's sizes and alignments (CUDA C++ Programming Guide, built-in vector types).
#pragma once
#define __VECTOR_TYPES_H__  // the toolkit's own must not come after it
#include "cuda_words.h"
#define GRADE_VECTORS(name, T, ALIGN2, ALIGN4)                            \
  struct name##1 { T x; };                                               \
  struct __attribute__((aligned(ALIGN2))) name##2 { T x, y; };           \
  struct name##3 { T x, y, z; };                                         \
  struct __attribute__((aligned(ALIGN4))) name##4 { T x, y, z, w; };
GRADE_VECTORS(char, signed char, 2, 4)
GRADE_VECTORS(uchar, unsigned char, 2, 4)
GRADE_VECTORS(short, short, 4, 8)
GRADE_VECTORS(ushort, unsigned short, 4, 8)
GRADE_VECTORS(int, int, 8, 16)
GRADE_VECTORS(uint, unsigned int, 8, 16)
GRADE_VECTORS(long, long, 16, 16)
GRADE_VECTORS(ulong, unsigned long, 16, 16)
GRADE_VECTORS(longlong, long long, 16, 16)
GRADE_VECTORS(ulonglong, unsigned long long, 16, 16)
GRADE_VECTORS(float, float, 8, 16)
GRADE_VECTORS(double, double, 16, 16)
#undef GRADE_VECTORS
// CUDA 13 names the alignment of the wide ones.
#define GRADE_WIDE(name, T)                                        \
  struct __attribute__((aligned(16))) name##4_16a { T x, y, z, w; }; \
  struct __attribute__((aligned(32))) name##4_32a { T x, y, z, w; };
GRADE_WIDE(long, long)
GRADE_WIDE(ulong, unsigned long)
GRADE_WIDE(longlong, long long)
GRADE_WIDE(ulonglong, unsigned long long)
GRADE_WIDE(double, double)
#undef GRADE_WIDE
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
