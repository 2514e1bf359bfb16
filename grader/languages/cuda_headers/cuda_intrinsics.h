// Intrinsics: fast maths, conversions with a rounding mode, bits of integers, cached loads.
#pragma once

// ---- fast maths: one approximate instruction, as NVIDIA documents them ------------------------
#define GRADE_ASM1(name, instruction)                          \
  GRADE_DEVICE float name(float x) {                           \
    float r;                                                   \
    asm(instruction " %0, %1;" : "=f"(r) : "f"(x));            \
    return r;                                                  \
  }
GRADE_ASM1(__cosf, "cos.approx.f32") GRADE_ASM1(__sinf, "sin.approx.f32")
GRADE_ASM1(grade_ex2, "ex2.approx.f32") GRADE_ASM1(grade_lg2, "lg2.approx.f32")
GRADE_ASM1(__tanhf, "tanh.approx.f32") GRADE_ASM1(__frsqrt_rn, "rsqrt.approx.f32")
GRADE_ASM1(__frcp_rn, "rcp.rn.f32") GRADE_ASM1(__frcp_rz, "rcp.rz.f32")
GRADE_ASM1(__frcp_ru, "rcp.rp.f32") GRADE_ASM1(__frcp_rd, "rcp.rm.f32")
GRADE_ASM1(__fsqrt_rn, "sqrt.rn.f32") GRADE_ASM1(__fsqrt_rz, "sqrt.rz.f32")
GRADE_ASM1(__fsqrt_ru, "sqrt.rp.f32") GRADE_ASM1(__fsqrt_rd, "sqrt.rm.f32")
GRADE_ASM1(__saturatef, "cvt.sat.f32.f32")
#undef GRADE_ASM1
GRADE_DEVICE float __expf(float x) { return grade_ex2(x * 1.4426950408889634f); }
GRADE_DEVICE float __exp10f(float x) { return grade_ex2(x * 3.3219280948873623f); }
GRADE_DEVICE float __log2f(float x) { return grade_lg2(x); }
GRADE_DEVICE float __logf(float x) { return grade_lg2(x) * 0.69314718055994531f; }
GRADE_DEVICE float __log10f(float x) { return grade_lg2(x) * 0.30102999566398120f; }
GRADE_DEVICE float __powf(float x, float y) { return grade_ex2(y * grade_lg2(x)); }
GRADE_DEVICE float __tanf(float x) { return __sinf(x) / __cosf(x); }
GRADE_DEVICE void __sincosf(float x, float* s, float* c) { *s = __sinf(x), *c = __cosf(x); }
GRADE_DEVICE float __fdividef(float x, float y) {
  float r;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}

// ---- arithmetic with a rounding mode: never contracted ---------------------------------------
#define GRADE_ROUND(suffix, mode)                                                                \
  GRADE_DEVICE float __fadd_##suffix(float x, float y) {                                         \
    float r; asm("add." mode ".f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); return r; }         \
  GRADE_DEVICE float __fsub_##suffix(float x, float y) {                                         \
    float r; asm("sub." mode ".f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); return r; }         \
  GRADE_DEVICE float __fmul_##suffix(float x, float y) {                                         \
    float r; asm("mul." mode ".f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); return r; }         \
  GRADE_DEVICE float __fdiv_##suffix(float x, float y) {                                         \
    float r; asm("div." mode ".f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); return r; }         \
  GRADE_DEVICE float __fmaf_##suffix(float x, float y, float z) {                                \
    float r; asm("fma." mode ".f32 %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z));         \
    return r; }                                                                                  \
  GRADE_DEVICE double __dadd_##suffix(double x, double y) {                                      \
    double r; asm("add." mode ".f64 %0, %1, %2;" : "=d"(r) : "d"(x), "d"(y)); return r; }        \
  GRADE_DEVICE double __dsub_##suffix(double x, double y) {                                      \
    double r; asm("sub." mode ".f64 %0, %1, %2;" : "=d"(r) : "d"(x), "d"(y)); return r; }        \
  GRADE_DEVICE double __dmul_##suffix(double x, double y) {                                      \
    double r; asm("mul." mode ".f64 %0, %1, %2;" : "=d"(r) : "d"(x), "d"(y)); return r; }        \
  GRADE_DEVICE double __fma_##suffix(double x, double y, double z) {                             \
    double r; asm("fma." mode ".f64 %0, %1, %2, %3;" : "=d"(r) : "d"(x), "d"(y), "d"(z));        \
    return r; }                                                                                  \
  GRADE_DEVICE float __double2float_##suffix(double x) {                                         \
    float r; asm("cvt." mode ".f32.f64 %0, %1;" : "=f"(r) : "d"(x)); return r; }                 \
  GRADE_DEVICE float __int2float_##suffix(int x) {                                               \
    float r; asm("cvt." mode ".f32.s32 %0, %1;" : "=f"(r) : "r"(x)); return r; }                 \
  GRADE_DEVICE float __uint2float_##suffix(unsigned x) {                                         \
    float r; asm("cvt." mode ".f32.u32 %0, %1;" : "=f"(r) : "r"(x)); return r; }                 \
  GRADE_DEVICE float __ll2float_##suffix(long long x) {                                          \
    float r; asm("cvt." mode ".f32.s64 %0, %1;" : "=f"(r) : "l"(x)); return r; }                 \
  GRADE_DEVICE float __ull2float_##suffix(unsigned long long x) {                                \
    float r; asm("cvt." mode ".f32.u64 %0, %1;" : "=f"(r) : "l"(x)); return r; }                 \
  GRADE_DEVICE double __ll2double_##suffix(long long x) {                                        \
    double r; asm("cvt." mode ".f64.s64 %0, %1;" : "=d"(r) : "l"(x)); return r; }                \
  GRADE_DEVICE int __float2int_##suffix(float x) {                                               \
    int r; asm("cvt." mode "i.s32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }                  \
  GRADE_DEVICE unsigned __float2uint_##suffix(float x) {                                         \
    unsigned r; asm("cvt." mode "i.u32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }             \
  GRADE_DEVICE long long __float2ll_##suffix(float x) {                                          \
    long long r; asm("cvt." mode "i.s64.f32 %0, %1;" : "=l"(r) : "f"(x)); return r; }            \
  GRADE_DEVICE int __double2int_##suffix(double x) {                                             \
    int r; asm("cvt." mode "i.s32.f64 %0, %1;" : "=r"(r) : "d"(x)); return r; }                  \
  GRADE_DEVICE long long __double2ll_##suffix(double x) {                                        \
    long long r; asm("cvt." mode "i.s64.f64 %0, %1;" : "=l"(r) : "d"(x)); return r; }
GRADE_ROUND(rn, "rn") GRADE_ROUND(rz, "rz") GRADE_ROUND(ru, "rp") GRADE_ROUND(rd, "rm")
#undef GRADE_ROUND
GRADE_DEVICE double __int2double_rn(int x) { return x; }
GRADE_DEVICE double __uint2double_rn(unsigned x) { return x; }
GRADE_DEVICE double __ddiv_rn(double x, double y) { return x / y; }
GRADE_DEVICE double __dsqrt_rn(double x) { return sqrt(x); }

// ---- bits ------------------------------------------------------------------------------------
GRADE_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
GRADE_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
GRADE_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
GRADE_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
GRADE_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
GRADE_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
GRADE_DEVICE int __double2hiint(double x) { return (int)(grade_bits(x) >> 32); }
GRADE_DEVICE int __double2loint(double x) { return (int)grade_bits(x); }
GRADE_DEVICE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (long long)high << 32 | (unsigned)low);
}
GRADE_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
GRADE_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
GRADE_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
GRADE_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
GRADE_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
GRADE_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
GRADE_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
GRADE_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
GRADE_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  unsigned r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s));
  return r;
}
GRADE_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
GRADE_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
GRADE_DEVICE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
GRADE_DEVICE unsigned __umulhi(unsigned x, unsigned y) {
  return (unsigned)((unsigned long long)x * y >> 32);
}
GRADE_DEVICE long long __mul64hi(long long x, long long y) {
  long long r;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(y));
  return r;
}
GRADE_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  unsigned long long r;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(y));
  return r;
}
GRADE_DEVICE int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
GRADE_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
GRADE_DEVICE unsigned __sad(int x, int y, unsigned z) {
  return z + (x < y ? (unsigned)y - (unsigned)x : (unsigned)x - (unsigned)y);
}
GRADE_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return z + (x < y ? y - x : x - y);
}
GRADE_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
GRADE_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
GRADE_DEVICE int __dp4a(int a, int b, int c) {
  int r;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
GRADE_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

// ---- loads and stores with a cache hint: the hint is no part of the modelled caches ------------
#define GRADE_LOAD(name) \
  template <class T> GRADE_DEVICE T name(const T* p) { return *p; }
GRADE_LOAD(__ldg) GRADE_LOAD(__ldca) GRADE_LOAD(__ldcg) GRADE_LOAD(__ldcs) GRADE_LOAD(__ldlu)
GRADE_LOAD(__ldcv)
#undef GRADE_LOAD
#define GRADE_STORE(name) \
  template <class T> GRADE_DEVICE void name(T* p, T v) { *p = v; }
GRADE_STORE(__stwb) GRADE_STORE(__stcg) GRADE_STORE(__stcs) GRADE_STORE(__stwt)
#undef GRADE_STORE
GRADE_DEVICE bool __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
GRADE_DEVICE bool __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
GRADE_DEVICE size_t __cvta_generic_to_shared(const void* p) {
  return (size_t)(__attribute__((address_space(3))) const void*)p;
}
