// Half-precision types as host code uses them: storage, conversions and arithmetic through float.
// GRADE_SMALL(name, kind): `name` holds the bits that grade::kind makes of a float.
#pragma once
#include "cuda_runtime.h"
namespace grade {
struct f16 {
  __host__ __device__ static unsigned short bits(float v) {
    _Float16 t = (_Float16)v;
    unsigned short x;
    __builtin_memcpy(&x, &t, 2);
    return x;
  }
  __host__ __device__ static float value(unsigned short x) {
    _Float16 t;
    __builtin_memcpy(&t, &x, 2);
    return (float)t;
  }
};
// The upper half of a float, rounded to nearest, ties to even; a NaN stays one.
struct bf16 {
  __host__ __device__ static unsigned short bits(float v) {
    unsigned x;
    __builtin_memcpy(&x, &v, 4);
    if (v != v) return 0x7fff;
    return (unsigned short)((x + 0x7fff + (x >> 16 & 1)) >> 16);
  }
  __host__ __device__ static float value(unsigned short x) {
    unsigned wide = (unsigned)x << 16;
    float v;
    __builtin_memcpy(&v, &wide, 4);
    return v;
  }
};
}  // namespace grade
#define GRADE_SMALL(name, kind)                                                                    \
  struct name {                                                                                    \
    unsigned short __x;                                                                            \
    name() = default;                                                                              \
    __host__ __device__ name(float v) : __x(grade::kind::bits(v)) {}                               \
    __host__ __device__ name(double v) : name((float)v) {}                                         \
    __host__ __device__ name(int v) : name((float)v) {}                                            \
    __host__ __device__ operator float() const { return grade::kind::value(__x); }                 \
    __host__ __device__ name& operator+=(name o) { return *this = name((float)*this + (float)o); } \
    __host__ __device__ name& operator-=(name o) { return *this = name((float)*this - (float)o); } \
    __host__ __device__ name& operator*=(name o) { return *this = name((float)*this * (float)o); } \
    __host__ __device__ name& operator/=(name o) { return *this = name((float)*this / (float)o); } \
  };                                                                                               \
  struct alignas(4) name##2 {                                                                 \
    name x, y;                                                                                     \
  };
