// Arithmetic of CUDA's short vectors, as public samples expect it of a header of this name; written
// anew. Operators and functions work component by component unless they say otherwise.
#pragma once
typedef unsigned int uint;
typedef unsigned short ushort;
#define GRADE_BOTH inline __host__ __device__
#define GRADE_EACH_2(m, f) m(x, f), m(y, f)
#define GRADE_EACH_3(m, f) m(x, f), m(y, f), m(z, f)
#define GRADE_EACH_4(m, f) m(x, f), m(y, f), m(z, f), m(w, f)

// ---- vectors from others ---------------------------------------------------------------------
#define GRADE_SAME(c, f) s
#define GRADE_CAST(c, S) (S)a.c
#define GRADE_FROM(name, S, n, other) \
  GRADE_BOTH name##n make_##name##n(other##n a) { return name##n{GRADE_EACH_##n(GRADE_CAST, S)}; }
#define GRADE_MAKE(name, S)                                                                    \
  GRADE_BOTH name##2 make_##name##2(S s) { return name##2{s, s}; }                             \
  GRADE_BOTH name##3 make_##name##3(S s) { return name##3{s, s, s}; }                          \
  GRADE_BOTH name##4 make_##name##4(S s) { return name##4{s, s, s, s}; }                       \
  GRADE_BOTH name##2 make_##name##2(name##3 a) { return name##2{a.x, a.y}; }                   \
  GRADE_BOTH name##3 make_##name##3(name##2 a) { return name##3{a.x, a.y, 0}; }                \
  GRADE_BOTH name##3 make_##name##3(name##2 a, S s) { return name##3{a.x, a.y, s}; }           \
  GRADE_BOTH name##3 make_##name##3(name##4 a) { return name##3{a.x, a.y, a.z}; }              \
  GRADE_BOTH name##4 make_##name##4(name##3 a) { return name##4{a.x, a.y, a.z, 0}; }           \
  GRADE_BOTH name##4 make_##name##4(name##3 a, S s) { return name##4{a.x, a.y, a.z, s}; }
GRADE_MAKE(float, float)
GRADE_MAKE(int, int)
GRADE_MAKE(uint, unsigned)
#define GRADE_CASTS(n)              \
  GRADE_FROM(float, float, n, int)  \
  GRADE_FROM(float, float, n, uint) \
  GRADE_FROM(int, int, n, uint)     \
  GRADE_FROM(int, int, n, float)    \
  GRADE_FROM(uint, unsigned, n, int)
GRADE_CASTS(2)
GRADE_CASTS(3)
GRADE_CASTS(4)

// ---- operators ---------------------------------------------------------------------------------
#define GRADE_VV(c, op) a.c op b.c
#define GRADE_VS(c, op) a.c op b
#define GRADE_SV(c, op) a op b.c
#define GRADE_NEGATED(c, f) -a.c
#define GRADE_OPERATOR(T, S, n, op)                                                    \
  GRADE_BOTH T operator op(T a, T b) { return T{GRADE_EACH_##n(GRADE_VV, op)}; }       \
  GRADE_BOTH T operator op(T a, S b) { return T{GRADE_EACH_##n(GRADE_VS, op)}; }       \
  GRADE_BOTH T operator op(S a, T b) { return T{GRADE_EACH_##n(GRADE_SV, op)}; }       \
  GRADE_BOTH void operator op##=(T& a, T b) { a = T{GRADE_EACH_##n(GRADE_VV, op)}; }   \
  GRADE_BOTH void operator op##=(T& a, S b) { a = T{GRADE_EACH_##n(GRADE_VS, op)}; }
#define GRADE_NEGATION(T, n) \
  GRADE_BOTH T operator-(T a) { return T{GRADE_EACH_##n(GRADE_NEGATED, 0)}; }

// ---- functions ---------------------------------------------------------------------------------
#define GRADE_LESSER(c, f) (b.c < a.c ? b.c : a.c)
#define GRADE_GREATER(c, f) (a.c < b.c ? b.c : a.c)
#define GRADE_CLAMPED(c, f) clamp(v.c, low.c, high.c)
#define GRADE_CLAMPED_S(c, f) clamp(v.c, low, high)
#define GRADE_ONE(c, f) f(a.c)
#define GRADE_TWO(c, f) f(a.c, b.c)
#define GRADE_SUM_2(m, f) m(x, f) + m(y, f)
#define GRADE_SUM_3(m, f) m(x, f) + m(y, f) + m(z, f)
#define GRADE_SUM_4(m, f) m(x, f) + m(y, f) + m(z, f) + m(w, f)
GRADE_BOTH float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
GRADE_BOTH int clamp(int v, int low, int high) { return v < low ? low : high < v ? high : v; }
GRADE_BOTH uint clamp(uint v, uint low, uint high) { return v < low ? low : high < v ? high : v; }
GRADE_BOTH float lerp(float a, float b, float t) { return a + t * (b - a); }
GRADE_BOTH float fracf(float v) { return v - floorf(v); }
GRADE_BOTH float smoothstep(float a, float b, float x) {
  float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}
#define GRADE_ANY(T, S, n)                                                                          \
  GRADE_OPERATOR(T, S, n, +)                                                                        \
  GRADE_OPERATOR(T, S, n, -)                                                                        \
  GRADE_OPERATOR(T, S, n, *)                                                                        \
  GRADE_BOTH S dot(T a, T b) { return GRADE_SUM_##n(GRADE_VV, *); }                                 \
  GRADE_BOTH T clamp(T v, T low, T high) { return T{GRADE_EACH_##n(GRADE_CLAMPED, 0)}; }            \
  GRADE_BOTH T clamp(T v, S low, S high) { return T{GRADE_EACH_##n(GRADE_CLAMPED_S, 0)}; }
#define GRADE_WHOLE(T, S, n)                                                 \
  GRADE_ANY(T, S, n)                                                         \
  GRADE_BOTH T min(T a, T b) { return T{GRADE_EACH_##n(GRADE_LESSER, 0)}; }  \
  GRADE_BOTH T max(T a, T b) { return T{GRADE_EACH_##n(GRADE_GREATER, 0)}; }
#define GRADE_SIGNED(T, n) \
  GRADE_NEGATION(T, n)     \
  GRADE_BOTH T abs(T a) { return T{GRADE_EACH_##n(GRADE_ONE, abs)}; }
#define GRADE_REAL(T, n)                                                                      \
  GRADE_ANY(T, float, n)                                                                      \
  GRADE_OPERATOR(T, float, n, /)                                                              \
  GRADE_NEGATION(T, n)                                                                        \
  GRADE_BOTH T fminf(T a, T b) { return T{GRADE_EACH_##n(GRADE_TWO, fminf)}; }                \
  GRADE_BOTH T fmaxf(T a, T b) { return T{GRADE_EACH_##n(GRADE_TWO, fmaxf)}; }                \
  GRADE_BOTH T fmodf(T a, T b) { return T{GRADE_EACH_##n(GRADE_TWO, fmodf)}; }                \
  GRADE_BOTH T floorf(T a) { return T{GRADE_EACH_##n(GRADE_ONE, floorf)}; }                   \
  GRADE_BOTH T fracf(T a) { return T{GRADE_EACH_##n(GRADE_ONE, fracf)}; }                     \
  GRADE_BOTH T fabs(T a) { return T{GRADE_EACH_##n(GRADE_ONE, fabsf)}; }                      \
  GRADE_BOTH T lerp(T a, T b, float t) { return a + t * (b - a); }                            \
  GRADE_BOTH T smoothstep(T a, T b, T x) {                                                    \
    T y = clamp((x - a) / (b - a), 0.0f, 1.0f);                                               \
    return y * y * (3.0f - 2.0f * y);                                                         \
  }                                                                                           \
  GRADE_BOTH float length(T v) { return sqrtf(dot(v, v)); }                                   \
  GRADE_BOTH T normalize(T v) { return v * (1.0f / sqrtf(dot(v, v))); }
GRADE_REAL(float2, 2)
GRADE_REAL(float3, 3)
GRADE_REAL(float4, 4)
GRADE_WHOLE(int2, int, 2)
GRADE_WHOLE(int3, int, 3)
GRADE_WHOLE(int4, int, 4)
GRADE_WHOLE(uint2, uint, 2)
GRADE_WHOLE(uint3, uint, 3)
GRADE_WHOLE(uint4, uint, 4)
GRADE_SIGNED(int2, 2)
GRADE_SIGNED(int3, 3)
GRADE_SIGNED(int4, 4)
GRADE_BOTH float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
GRADE_BOTH float3 cross(float3 a, float3 b) {
  return float3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
