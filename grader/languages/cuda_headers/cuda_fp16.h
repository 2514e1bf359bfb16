// cuda_fp16.h: __half and __half2, by clang's own _Float16.
#pragma once

struct __attribute__((aligned(2))) __half {
  _Float16 bits;
  __half() = default;
  GRADE_BOTH_MEMBER __half(_Float16 v, int) : bits(v) {}
  GRADE_BOTH_MEMBER __half(float v) : bits((_Float16)v) {}
  GRADE_BOTH_MEMBER __half(double v) : bits((_Float16)v) {}
  GRADE_BOTH_MEMBER __half(int v) : bits((_Float16)(float)v) {}
  GRADE_BOTH_MEMBER __half(unsigned v) : bits((_Float16)(float)v) {}
  GRADE_BOTH_MEMBER __half(long v) : bits((_Float16)(float)v) {}
  GRADE_BOTH_MEMBER __half(unsigned long v) : bits((_Float16)(float)v) {}
  GRADE_BOTH_MEMBER operator float() const { return (float)bits; }
  GRADE_BOTH_MEMBER explicit operator int() const { return (int)(float)bits; }
  GRADE_BOTH_MEMBER explicit operator unsigned() const { return (unsigned)(float)bits; }
  GRADE_BOTH_MEMBER explicit operator bool() const { return (float)bits != 0; }
};
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  GRADE_BOTH_MEMBER __half2(__half x, __half y) : x(x), y(y) {}
};

#define GRADE_OPERATOR(op)                                                              \
  GRADE_DEVICE __half operator op(__half a, __half b) {                                \
    return __half((_Float16)(a.bits op b.bits), 0);                                    \
  }                                                                                    \
  GRADE_DEVICE __half& operator op##=(__half& a, __half b) { return a = a op b; }     \
  GRADE_DEVICE __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; } \
  GRADE_DEVICE __half2& operator op##=(__half2& a, __half2 b) { return a = a op b; }
GRADE_OPERATOR(+) GRADE_OPERATOR(-) GRADE_OPERATOR(*) GRADE_OPERATOR(/)
#undef GRADE_OPERATOR
#define GRADE_COMPARISON(op) \
  GRADE_DEVICE bool operator op(__half a, __half b) { return a.bits op b.bits; }
GRADE_COMPARISON(==) GRADE_COMPARISON(!=) GRADE_COMPARISON(<) GRADE_COMPARISON(<=)
GRADE_COMPARISON(>) GRADE_COMPARISON(>=)
#undef GRADE_COMPARISON
GRADE_DEVICE __half operator-(__half a) { return __half((_Float16)-a.bits, 0); }
GRADE_DEVICE __half2 operator-(__half2 a) { return {-a.x, -a.y}; }

#define GRADE_NAMED(function, op)                                                       \
  GRADE_DEVICE __half __h##function(__half a, __half b) { return a op b; }            \
  GRADE_DEVICE __half __h##function##_rn(__half a, __half b) { return a op b; }       \
  GRADE_DEVICE __half2 __h##function##2(__half2 a, __half2 b) { return a op b; }
GRADE_NAMED(add, +) GRADE_NAMED(sub, -) GRADE_NAMED(mul, *)
#undef GRADE_NAMED
GRADE_DEVICE __half __hdiv(__half a, __half b) { return a / b; }
GRADE_DEVICE __half2 __h2div(__half2 a, __half2 b) { return a / b; }
GRADE_DEVICE __half __hneg(__half a) { return -a; }
GRADE_DEVICE __half2 __hneg2(__half2 a) { return -a; }
GRADE_DEVICE __half __habs(__half a) { return __half((_Float16)fabsf((float)a), 0); }
GRADE_DEVICE __half __hfma(__half a, __half b, __half c) {
  return __half(__builtin_elementwise_fma(a.bits, b.bits, c.bits), 0);
}
GRADE_DEVICE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
GRADE_DEVICE __half __hmax(__half a, __half b) { return __half(fmaxf(a, b)); }
GRADE_DEVICE __half __hmin(__half a, __half b) { return __half(fminf(a, b)); }
GRADE_DEVICE __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
GRADE_DEVICE __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
GRADE_DEVICE bool __heq(__half a, __half b) { return a == b; }
GRADE_DEVICE bool __hne(__half a, __half b) { return a != b; }
GRADE_DEVICE bool __hlt(__half a, __half b) { return a < b; }
GRADE_DEVICE bool __hle(__half a, __half b) { return a <= b; }
GRADE_DEVICE bool __hgt(__half a, __half b) { return a > b; }
GRADE_DEVICE bool __hge(__half a, __half b) { return a >= b; }
GRADE_DEVICE bool __hisnan(__half a) { return a != a; }

#define GRADE_ROUNDED(function, of) \
  GRADE_DEVICE __half function(__half a) { return __half(of((float)a)); }
GRADE_ROUNDED(hexp, expf) GRADE_ROUNDED(hlog, logf) GRADE_ROUNDED(hsqrt, sqrtf)
GRADE_ROUNDED(hrsqrt, rsqrtf) GRADE_ROUNDED(hsin, sinf) GRADE_ROUNDED(hcos, cosf)
GRADE_ROUNDED(hfloor, floorf) GRADE_ROUNDED(hceil, ceilf) GRADE_ROUNDED(hrint, rintf)
GRADE_ROUNDED(htrunc, truncf) GRADE_ROUNDED(hexp2, exp2f) GRADE_ROUNDED(hlog2, log2f)
#undef GRADE_ROUNDED

GRADE_DEVICE float __half2float(__half a) { return (float)a; }
GRADE_DEVICE __half __float2half(float a) { return __half(a); }
GRADE_DEVICE __half __float2half_rn(float a) { return __half(a); }
GRADE_DEVICE float __low2float(__half2 a) { return (float)a.x; }
GRADE_DEVICE float __high2float(__half2 a) { return (float)a.y; }
GRADE_DEVICE short __half_as_short(__half a) { return __builtin_bit_cast(short, a.bits); }
GRADE_DEVICE unsigned short __half_as_ushort(__half a) {
  return __builtin_bit_cast(unsigned short, a.bits);
}
GRADE_DEVICE __half __ushort_as_half(unsigned short a) {
  return __half(__builtin_bit_cast(_Float16, a), 0);
}
GRADE_DEVICE __half __int2half_rn(int a) { return __half((float)a); }
GRADE_DEVICE int __half2int_rn(__half a) { return __float2int_rn((float)a); }
#define GRADE_EXCHANGE(name, ...)                                                       \
  GRADE_DEVICE __attribute__((convergent)) __half name(unsigned mask, __half v, __VA_ARGS__) { \
    int bits = __builtin_bit_cast(unsigned short, v.bits);                              \
    return __ushort_as_half((unsigned short)name(mask, bits, by, width));            \
  }
GRADE_EXCHANGE(__shfl_sync, int by, int width = 32)
GRADE_EXCHANGE(__shfl_up_sync, int by, int width = 32)
GRADE_EXCHANGE(__shfl_down_sync, int by, int width = 32)
GRADE_EXCHANGE(__shfl_xor_sync, int by, int width = 32)
#undef GRADE_EXCHANGE

typedef __half half;
typedef __half2 half2;
GRADE_DEVICE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
GRADE_DEVICE __half2 make_half2(__half a, __half b) { return {a, b}; }
GRADE_DEVICE __half2 __half2half2(__half a) { return {a, a}; }
GRADE_DEVICE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
GRADE_DEVICE __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
GRADE_DEVICE __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
GRADE_DEVICE float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
GRADE_DEVICE __half __low2half(__half2 a) { return a.x; }
GRADE_DEVICE __half __high2half(__half2 a) { return a.y; }
GRADE_DEVICE __half __double2half(double a) { return __half(a); }
GRADE_DEVICE __half atomicAdd(__half* p, __half v) {
  unsigned short r, bits = __half_as_ushort(v);
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(bits) : "memory");
  return __ushort_as_half(r);
}
GRADE_DEVICE __half2 atomicAdd(__half2* p, __half2 v) {
  unsigned r, bits = __half_as_ushort(v.x) | (unsigned)__half_as_ushort(v.y) << 16;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(bits) : "memory");
  return {__ushort_as_half((unsigned short)r), __ushort_as_half((unsigned short)(r >> 16))};
}
