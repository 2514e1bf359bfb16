// Atomic functions: relaxed, of device scope, as CUDA's are (PTX ISA, atom).
#pragma once

#define GRADE_ATOM(name, scope, instruction, T, kind)                              \
  GRADE_DEVICE T name(T* p, T v) {                                                 \
    T r;                                                                           \
    asm volatile("atom" scope "." instruction " %0, [%1], %2;"                     \
                 : "=" kind(r) : "l"(p), kind(v) : "memory");                      \
    return r;                                                                      \
  }
#define GRADE_ATOM_CAS(name, scope, width, T, kind)                                \
  GRADE_DEVICE T name(T* p, T compare, T v) {                                      \
    T r;                                                                           \
    asm volatile("atom" scope ".cas." width " %0, [%1], %2, %3;"                   \
                 : "=" kind(r) : "l"(p), kind(compare), kind(v) : "memory");       \
    return r;                                                                      \
  }
#define GRADE_ATOMS(suffix, scope)                                                 \
  GRADE_ATOM(atomicAdd##suffix, scope, "add.s32", int, "r")                        \
  GRADE_ATOM(atomicAdd##suffix, scope, "add.u32", unsigned, "r")                   \
  GRADE_ATOM(atomicAdd##suffix, scope, "add.u64", unsigned long long, "l")         \
  GRADE_ATOM(atomicAdd##suffix, scope, "add.f32", float, "f")                      \
  GRADE_ATOM(atomicAdd##suffix, scope, "add.f64", double, "d")                     \
  GRADE_ATOM(atomicExch##suffix, scope, "exch.b32", int, "r")                      \
  GRADE_ATOM(atomicExch##suffix, scope, "exch.b32", unsigned, "r")                 \
  GRADE_ATOM(atomicExch##suffix, scope, "exch.b64", unsigned long long, "l")       \
  GRADE_ATOM(atomicExch##suffix, scope, "exch.b32", float, "f")                    \
  GRADE_ATOM(atomicMin##suffix, scope, "min.s32", int, "r")                        \
  GRADE_ATOM(atomicMin##suffix, scope, "min.u32", unsigned, "r")                   \
  GRADE_ATOM(atomicMin##suffix, scope, "min.u64", unsigned long long, "l")         \
  GRADE_ATOM(atomicMin##suffix, scope, "min.s64", long long, "l")                  \
  GRADE_ATOM(atomicMax##suffix, scope, "max.s32", int, "r")                        \
  GRADE_ATOM(atomicMax##suffix, scope, "max.u32", unsigned, "r")                   \
  GRADE_ATOM(atomicMax##suffix, scope, "max.u64", unsigned long long, "l")         \
  GRADE_ATOM(atomicMax##suffix, scope, "max.s64", long long, "l")                  \
  GRADE_ATOM(atomicInc##suffix, scope, "inc.u32", unsigned, "r")                   \
  GRADE_ATOM(atomicDec##suffix, scope, "dec.u32", unsigned, "r")                   \
  GRADE_ATOM(atomicAnd##suffix, scope, "and.b32", int, "r")                        \
  GRADE_ATOM(atomicAnd##suffix, scope, "and.b32", unsigned, "r")                   \
  GRADE_ATOM(atomicAnd##suffix, scope, "and.b64", unsigned long long, "l")         \
  GRADE_ATOM(atomicOr##suffix, scope, "or.b32", int, "r")                          \
  GRADE_ATOM(atomicOr##suffix, scope, "or.b32", unsigned, "r")                     \
  GRADE_ATOM(atomicOr##suffix, scope, "or.b64", unsigned long long, "l")           \
  GRADE_ATOM(atomicXor##suffix, scope, "xor.b32", int, "r")                        \
  GRADE_ATOM(atomicXor##suffix, scope, "xor.b32", unsigned, "r")                   \
  GRADE_ATOM(atomicXor##suffix, scope, "xor.b64", unsigned long long, "l")         \
  GRADE_ATOM_CAS(atomicCAS##suffix, scope, "b32", int, "r")                        \
  GRADE_ATOM_CAS(atomicCAS##suffix, scope, "b32", unsigned, "r")                   \
  GRADE_ATOM_CAS(atomicCAS##suffix, scope, "b64", unsigned long long, "l")         \
  GRADE_ATOM_CAS(atomicCAS##suffix, scope, "b16", unsigned short, "h")             \
  GRADE_DEVICE int atomicSub##suffix(int* p, int v) { return atomicAdd##suffix(p, -v); } \
  GRADE_DEVICE unsigned atomicSub##suffix(unsigned* p, unsigned v) {               \
    return atomicAdd##suffix(p, 0u - v);                                           \
  }
GRADE_ATOMS(, "")
GRADE_ATOMS(_block, ".relaxed.cta")
GRADE_ATOMS(_system, ".relaxed.sys")
#undef GRADE_ATOMS
#undef GRADE_ATOM
#undef GRADE_ATOM_CAS
