// cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162, by clang's own __bf16.
#pragma once

struct __attribute__((aligned(2))) __nv_bfloat16 {
  __bf16 bits;
  __nv_bfloat16() = default;
  GRADE_BOTH_MEMBER __nv_bfloat16(__bf16 v, int) : bits(v) {}
  GRADE_BOTH_MEMBER __nv_bfloat16(float v) : bits((__bf16)v) {}
  GRADE_BOTH_MEMBER __nv_bfloat16(double v) : bits((__bf16)v) {}
  GRADE_BOTH_MEMBER __nv_bfloat16(int v) : bits((__bf16)(float)v) {}
  GRADE_BOTH_MEMBER __nv_bfloat16(unsigned v) : bits((__bf16)(float)v) {}
  GRADE_BOTH_MEMBER __nv_bfloat16(long v) : bits((__bf16)(float)v) {}
  GRADE_BOTH_MEMBER __nv_bfloat16(unsigned long v) : bits((__bf16)(float)v) {}
  GRADE_BOTH_MEMBER operator float() const { return (float)bits; }
  GRADE_BOTH_MEMBER explicit operator int() const { return (int)(float)bits; }
  GRADE_BOTH_MEMBER explicit operator unsigned() const { return (unsigned)(float)bits; }
  GRADE_BOTH_MEMBER explicit operator bool() const { return (float)bits != 0; }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  GRADE_BOTH_MEMBER __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};

#define GRADE_OPERATOR(op)                                                              \
  GRADE_DEVICE __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) {                                \
    return __nv_bfloat16((__bf16)(a.bits op b.bits), 0);                                    \
  }                                                                                    \
  GRADE_DEVICE __nv_bfloat16& operator op##=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a op b; }     \
  GRADE_DEVICE __nv_bfloat162 operator op(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x op b.x, a.y op b.y}; } \
  GRADE_DEVICE __nv_bfloat162& operator op##=(__nv_bfloat162& a, __nv_bfloat162 b) { return a = a op b; }
GRADE_OPERATOR(+) GRADE_OPERATOR(-) GRADE_OPERATOR(*) GRADE_OPERATOR(/)
#undef GRADE_OPERATOR
#define GRADE_COMPARISON(op) \
  GRADE_DEVICE bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return a.bits op b.bits; }
GRADE_COMPARISON(==) GRADE_COMPARISON(!=) GRADE_COMPARISON(<) GRADE_COMPARISON(<=)
GRADE_COMPARISON(>) GRADE_COMPARISON(>=)
#undef GRADE_COMPARISON
GRADE_DEVICE __nv_bfloat16 operator-(__nv_bfloat16 a) { return __nv_bfloat16((__bf16)-a.bits, 0); }
GRADE_DEVICE __nv_bfloat162 operator-(__nv_bfloat162 a) { return {-a.x, -a.y}; }

#define GRADE_NAMED(function, op)                                                       \
  GRADE_DEVICE __nv_bfloat16 __h##function(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; }            \
  GRADE_DEVICE __nv_bfloat16 __h##function##_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; }       \
  GRADE_DEVICE __nv_bfloat162 __h##function##2(__nv_bfloat162 a, __nv_bfloat162 b) { return a op b; }
GRADE_NAMED(add, +) GRADE_NAMED(sub, -) GRADE_NAMED(mul, *)
#undef GRADE_NAMED
GRADE_DEVICE __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return a / b; }
GRADE_DEVICE __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return a / b; }
GRADE_DEVICE __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
GRADE_DEVICE __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return -a; }
GRADE_DEVICE __nv_bfloat16 __habs(__nv_bfloat16 a) { return __nv_bfloat16((__bf16)fabsf((float)a), 0); }
GRADE_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __nv_bfloat16(__builtin_elementwise_fma(a.bits, b.bits, c.bits), 0);
}
GRADE_DEVICE __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
GRADE_DEVICE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(fmaxf(a, b)); }
GRADE_DEVICE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(fminf(a, b)); }
GRADE_DEVICE __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
GRADE_DEVICE __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
GRADE_DEVICE bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return a == b; }
GRADE_DEVICE bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return a != b; }
GRADE_DEVICE bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return a < b; }
GRADE_DEVICE bool __hle(__nv_bfloat16 a, __nv_bfloat16 b) { return a <= b; }
GRADE_DEVICE bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return a > b; }
GRADE_DEVICE bool __hge(__nv_bfloat16 a, __nv_bfloat16 b) { return a >= b; }
GRADE_DEVICE bool __hisnan(__nv_bfloat16 a) { return a != a; }

#define GRADE_ROUNDED(function, of) \
  GRADE_DEVICE __nv_bfloat16 function(__nv_bfloat16 a) { return __nv_bfloat16(of((float)a)); }
GRADE_ROUNDED(hexp, expf) GRADE_ROUNDED(hlog, logf) GRADE_ROUNDED(hsqrt, sqrtf)
GRADE_ROUNDED(hrsqrt, rsqrtf) GRADE_ROUNDED(hsin, sinf) GRADE_ROUNDED(hcos, cosf)
GRADE_ROUNDED(hfloor, floorf) GRADE_ROUNDED(hceil, ceilf) GRADE_ROUNDED(hrint, rintf)
GRADE_ROUNDED(htrunc, truncf) GRADE_ROUNDED(hexp2, exp2f) GRADE_ROUNDED(hlog2, log2f)
#undef GRADE_ROUNDED

GRADE_DEVICE float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
GRADE_DEVICE __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
GRADE_DEVICE __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
GRADE_DEVICE float __low2float(__nv_bfloat162 a) { return (float)a.x; }
GRADE_DEVICE float __high2float(__nv_bfloat162 a) { return (float)a.y; }
GRADE_DEVICE short __bfloat16_as_short(__nv_bfloat16 a) { return __builtin_bit_cast(short, a.bits); }
GRADE_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) {
  return __builtin_bit_cast(unsigned short, a.bits);
}
GRADE_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) {
  return __nv_bfloat16(__builtin_bit_cast(__bf16, a), 0);
}
GRADE_DEVICE __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16((float)a); }
GRADE_DEVICE int __bfloat162int_rn(__nv_bfloat16 a) { return __float2int_rn((float)a); }
#define GRADE_EXCHANGE(name, ...)                                                       \
  GRADE_DEVICE __attribute__((convergent)) __nv_bfloat16 name(unsigned mask, __nv_bfloat16 v, __VA_ARGS__) { \
    int bits = __builtin_bit_cast(unsigned short, v.bits);                              \
    return __ushort_as_bfloat16((unsigned short)name(mask, bits, by, width));            \
  }
GRADE_EXCHANGE(__shfl_sync, int by, int width = 32)
GRADE_EXCHANGE(__shfl_up_sync, int by, int width = 32)
GRADE_EXCHANGE(__shfl_down_sync, int by, int width = 32)
GRADE_EXCHANGE(__shfl_xor_sync, int by, int width = 32)
#undef GRADE_EXCHANGE

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
GRADE_DEVICE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
GRADE_DEVICE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
GRADE_DEVICE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
GRADE_DEVICE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {__nv_bfloat16(a), __nv_bfloat16(b)};
}
GRADE_DEVICE __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)};
}
GRADE_DEVICE float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
GRADE_DEVICE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
GRADE_DEVICE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
