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
// What the toolkit's headers give host code for one such type and its pair: GRADE_SMALL_WORDS.
#define GRADE_SMALL_BINARY(T, word, op)                                                     \
  static __host__ __device__ inline T word(T a, T b) { return T((float)a op(float) b); }    \
  static __host__ __device__ inline T##2 word##2(T##2 a, T##2 b) {                          \
    return {word(a.x, b.x), word(a.y, b.y)};                                                \
  }                                                                                         \
  static __host__ __device__ inline T##2 operator op(T##2 a, T##2 b) { return word##2(a, b); }
#define GRADE_SMALL_COMPARE(T, word, op) \
  static __host__ __device__ inline bool word(T a, T b) { return (float)a op(float) b; }
#define GRADE_SMALL_WORDS(T, to_pair, to_floats, low, high, two, low_float, high_float)          \
  static __host__ __device__ inline T##2 to_pair(float2 v) { return {T(v.x), T(v.y)}; }          \
  static __host__ __device__ inline float2 to_floats(T##2 v) { return {(float)v.x, (float)v.y}; } \
  static __host__ __device__ inline T low(T##2 v) { return v.x; }                                \
  static __host__ __device__ inline T high(T##2 v) { return v.y; }                               \
  static __host__ __device__ inline float low_float(T##2 v) { return v.x; }                      \
  static __host__ __device__ inline float high_float(T##2 v) { return v.y; }                     \
  static __host__ __device__ inline T##2 two(T v) { return {v, v}; }                             \
  GRADE_SMALL_BINARY(T, __hadd, +) GRADE_SMALL_BINARY(T, __hsub, -)                              \
  GRADE_SMALL_BINARY(T, __hmul, *)                                                               \
  GRADE_SMALL_COMPARE(T, __heq, ==) GRADE_SMALL_COMPARE(T, __hne, !=)                            \
  GRADE_SMALL_COMPARE(T, __hlt, <) GRADE_SMALL_COMPARE(T, __hle, <=)                             \
  GRADE_SMALL_COMPARE(T, __hgt, >) GRADE_SMALL_COMPARE(T, __hge, >=)                             \
  static __host__ __device__ inline T __hdiv(T a, T b) { return T((float)a / (float)b); }        \
  static __host__ __device__ inline T __hneg(T a) { return T(-(float)a); }                       \
  static __host__ __device__ inline T __habs(T a) { return T(__builtin_fabsf((float)a)); }       \
  static __host__ __device__ inline T __hmax(T a, T b) { return T(__builtin_fmaxf(a, b)); }      \
  static __host__ __device__ inline T __hmin(T a, T b) { return T(__builtin_fminf(a, b)); }      \
  static __host__ __device__ inline T __hfma(T a, T b, T c) {                                    \
    return T((double)(float)a * (double)(float)b + (double)(float)c);                            \
  }
