// Complex numbers as CUDA C has them: pairs and functions.
#pragma once
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define GRADE_COMPLEX(type, real, f, z)                                                        \
  GRADE_BOTH type make_cu##z##Complex(real x, real y) { return {x, y}; }                       \
  GRADE_BOTH real cuCreal##f(type a) { return a.x; }                                           \
  GRADE_BOTH real cuCimag##f(type a) { return a.y; }                                           \
  GRADE_BOTH type cuConj##f(type a) { return {a.x, -a.y}; }                                    \
  GRADE_BOTH type cuCadd##f(type a, type b) { return {a.x + b.x, a.y + b.y}; }                 \
  GRADE_BOTH type cuCsub##f(type a, type b) { return {a.x - b.x, a.y - b.y}; }                 \
  GRADE_BOTH type cuCmul##f(type a, type b) {                                                  \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                     \
  }                                                                                            \
  GRADE_BOTH type cuCdiv##f(type a, type b) {                                                  \
    real d = b.x * b.x + b.y * b.y;                                                            \
    return {(a.x * b.x + a.y * b.y) / d, (a.y * b.x - a.x * b.y) / d};                         \
  }                                                                                            \
  GRADE_DEVICE real cuCabs##f(type a) { return hypot##f(a.x, a.y); }
GRADE_COMPLEX(cuFloatComplex, float, f, Float)
GRADE_COMPLEX(cuDoubleComplex, double, , Double)
#undef GRADE_COMPLEX
GRADE_BOTH cuComplex make_cuComplex(float x, float y) { return {x, y}; }
