// The mathematical functions of CUDA. float uses PTX's approximate instructions where the virtual GPU
// rounds those correctly, and double elsewhere; double uses the series below.
#pragma once

// ---- what one instruction does --------------------------------------------------------------

#define GRADE_BUILTIN1(name)                                             \
  GRADE_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  GRADE_DEVICE double name(double x) { return __builtin_##name(x); }
#define GRADE_BUILTIN2(name)                                                         \
  GRADE_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  GRADE_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }
GRADE_BUILTIN1(fabs) GRADE_BUILTIN1(floor) GRADE_BUILTIN1(ceil) GRADE_BUILTIN1(trunc)
GRADE_BUILTIN1(rint) GRADE_BUILTIN1(nearbyint) GRADE_BUILTIN1(sqrt)
GRADE_BUILTIN2(fmin) GRADE_BUILTIN2(fmax) GRADE_BUILTIN2(copysign)
#undef GRADE_BUILTIN1
#undef GRADE_BUILTIN2
GRADE_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
GRADE_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
GRADE_DEVICE float roundf(float x) {
  float whole = truncf(x);
  return fabsf(x - whole) >= 0.5f ? whole + copysignf(1.0f, x) : copysignf(whole, x);
}
GRADE_DEVICE double round(double x) {
  double whole = trunc(x);
  return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : copysign(whole, x);
}

// ---- double, by series ----------------------------------------------------------------------

GRADE_DEVICE double grade_infinity() { return __builtin_huge_val(); }
GRADE_DEVICE long long grade_bits(double x) { return __builtin_bit_cast(long long, x); }
GRADE_DEVICE double grade_power_of_two(int n) {  // -1022 <= n <= 1023
  return __builtin_bit_cast(double, (long long)(n + 1023) << 52);
}
GRADE_DEVICE double ldexp(double x, int n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  for (; n > 1023; n -= 1023) x *= grade_power_of_two(1023);
  for (; n < -969; n += 969) x *= grade_power_of_two(-969);
  return x * grade_power_of_two(n);
}
GRADE_DEVICE double frexp(double x, int* e) {
  *e = 0;
  if (x == 0 || !(fabs(x) < grade_infinity())) return x;
  int small = fabs(x) < 0x1p-1022 ? 54 : 0;
  long long bits = grade_bits(small ? x * 0x1p54 : x);
  *e = (int)(bits >> 52 & 0x7ff) - 1022 - small;
  return __builtin_bit_cast(double, (bits & 0x800fffffffffffffLL) | 0x3fe0000000000000LL);
}

// exp(x + low) for a small low: 2^k times the Taylor series of what ln 2 leaves.
GRADE_DEVICE double grade_exp(double x, double low) {
  if (!(x < 709.782712893384)) return x != x ? x : grade_infinity();
  if (x < -745.2) return 0;
  double k = rint(x * 1.4426950408889634);
  double r = fma(-k, 0x1.62e42fefa39efp-1, x);
  r = fma(-k, 0x1.abc9e3b39803fp-56, r) + low;
  double sum = 1.0 / 87178291200.0;
  double factorial[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0,
                        5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0};
  for (double f : factorial) sum = fma(sum, r, 1.0 / f);
  return ldexp(sum, (int)k);
}
GRADE_DEVICE double exp(double x) { return grade_exp(x, 0); }

// log(x) as high + low: 2 atanh((m - 1) / (m + 1)) and k ln 2.
GRADE_DEVICE double grade_log(double x, double* low) {
  *low = 0;
  if (!(x > 0)) return x == 0 ? -grade_infinity() : __builtin_nan("");
  if (!(x < grade_infinity())) return x;
  int k;
  double m = frexp(x, &k);
  if (m < 0.70710678118654752) {
    m *= 2;
    --k;
  }
  double f = m - 1, g = m + 1, s = f / g;
  double rest = fma(-s, g, f) / g + fma(-s, (m - g) + 1, 0) / g;
  double t = s * s, sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = fma(sum, t, 1.0 / n);
  double high = fma(k, 0x1.62e42fefa39efp-1, 2 * s);
  double lost = fma(k, 0x1.62e42fefa39efp-1, -high) + 2 * s;
  double tail = lost + fma(k, 0x1.abc9e3b39803fp-56, 2 * (rest + s * t * sum));
  *low = (high - (high + tail)) + tail;
  return high + tail;
}
GRADE_DEVICE double log(double x) {
  double low;
  return grade_log(x, &low);
}
GRADE_DEVICE double exp2(double x) {
  double k = rint(x);
  if (!(fabs(x) < 1100)) return grade_exp(x, 0);
  double r = x - k, high = r * 0.69314718055994531;
  double low = fma(r, 0.69314718055994531, -high) + r * 0x1.abc9e3b39803fp-56;
  return ldexp(grade_exp(high, low), (int)k);
}
GRADE_DEVICE double exp10(double x) {
  double high = x * 2.302585092994045684;
  return grade_exp(high, fma(x, 2.302585092994045684, -high) + x * -2.1707562233822494e-16);
}
// log(x) / log(base), the factor as high + low.
GRADE_DEVICE double grade_scaled_log(double x, double factor, double rest) {
  double low, high = grade_log(x, &low), product = high * factor;
  if (!(fabs(high) < grade_infinity())) return high;
  return product + (fma(high, factor, -product) + fma(low, factor, high * rest));
}
GRADE_DEVICE double log2(double x) {
  return grade_scaled_log(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
}
GRADE_DEVICE double log10(double x) {
  return grade_scaled_log(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
}
GRADE_DEVICE double expm1(double x) {
  if (fabs(x) > 0.35) return exp(x) - 1;
  double sum = 0;
  for (int n = 16; n >= 1; --n) sum = (sum + 1) * x / n;
  return sum;
}
GRADE_DEVICE double log1p(double x) {
  if (!(fabs(x) < 0.25)) return log(1 + x);
  double s = x / (2 + x), t = s * s, sum = 0;
  for (int n = 29; n >= 1; n -= 2) sum = fma(sum, t, 1.0 / n);
  return 2 * s * sum;
}
GRADE_DEVICE double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  double a = fabs(x);
  bool integer = trunc(y) == y, odd = integer && fabs(y) < 0x1p53 && fmax(0, 0) == 0 &&
                                      (long long)y % 2 != 0;
  if (x < 0 && !integer && a < grade_infinity()) return __builtin_nan("");
  double low, log_high = grade_log(a, &low), result;
  if (a == 1 || !(fabs(y) < grade_infinity())) {
    result = a == 1 ? 1 : ((a > 1) == (y > 0)) ? grade_infinity() : 0;
  } else if (a == 0 || !(a < grade_infinity())) {
    result = ((a == 0) == (y < 0)) ? grade_infinity() : 0;
  } else {
    double high = y * log_high;
    result = grade_exp(high, fma(y, log_high, -high) + y * low);
  }
  return x < 0 || (x == 0 && 1 / x < 0) ? (odd ? -result : result) : result;
}

// x less the nearest multiple of pi/2, and that multiple modulo 4.
GRADE_DEVICE double grade_reduce(double x, int* quarter) {
  double k = rint(x * 0.63661977236758134308);
  double r = fma(-k, 0x1.921fb54442d18p+0, x);
  r = fma(-k, 0x1.1a62633145c07p-54, r);
  r = fma(-k, -0x1.f1976b7ed8fbcp-110, r);
  *quarter = (int)((long long)k & 3);
  return r;
}
GRADE_DEVICE double grade_sine(double r) {  // |r| <= pi/4
  double t = r * r, sum = 0;
  for (int n = 21; n >= 3; n -= 2) sum = (1 + sum) * -t / (n * (n - 1));
  return fma(r, sum, r);
}
GRADE_DEVICE double grade_cosine(double r) {
  double t = r * r, sum = 0;
  for (int n = 20; n >= 2; n -= 2) sum = (1 + sum) * -t / (n * (n - 1));
  return 1 + sum;
}
GRADE_DEVICE double sin(double x) {
  if (!(fabs(x) < grade_infinity())) return x - x;
  int q;
  double r = grade_reduce(x, &q), v = q & 1 ? grade_cosine(r) : grade_sine(r);
  return q & 2 ? -v : v;
}
GRADE_DEVICE double cos(double x) {
  if (!(fabs(x) < grade_infinity())) return x - x;
  int q;
  double r = grade_reduce(x, &q), v = q & 1 ? grade_sine(r) : grade_cosine(r);
  return q == 1 || q == 2 ? -v : v;
}
GRADE_DEVICE double tan(double x) { return sin(x) / cos(x); }
GRADE_DEVICE double sinpi(double x) {
  double r = x - 2 * rint(x / 2);
  return sin(r * 3.14159265358979323846);
}
GRADE_DEVICE double cospi(double x) {
  double r = x - 2 * rint(x / 2);
  return cos(r * 3.14159265358979323846);
}
GRADE_DEVICE double atan(double x) {
  double a = fabs(x), base = 0;
  if (a > 1) {
    base = 1.57079632679489661923;
    a = -1 / a;
  }
  // atan(a) = 2 atan(a / (1 + sqrt(1 + a^2))), twice: the series then needs few terms.
  for (int i = 0; i < 2; ++i) a = a / (1 + sqrt(1 + a * a));
  double t = a * a, sum = 0;
  for (int n = 33; n >= 1; n -= 2) sum = fma(-sum, t, 1.0 / n);
  return copysign(base + 4 * a * sum, x);
}
GRADE_DEVICE double atan2(double y, double x) {
  const double pi = 3.14159265358979323846;
  if (x != x || y != y) return x + y;
  double ax = fabs(x), ay = fabs(y), r;
  if (ax == 0 && ay == 0) r = 0;
  else if (!(ax < grade_infinity()) && !(ay < grade_infinity())) r = pi / 4;
  else r = atan(ay / ax);
  if (__builtin_signbit(x)) r = pi - r;
  return copysign(r, y);
}
GRADE_DEVICE double asin(double x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
GRADE_DEVICE double acos(double x) { return atan2(sqrt((1 - x) * (1 + x)), x); }
GRADE_DEVICE double sinh(double x) {
  double e = expm1(fabs(x));
  double r = fabs(x) > 700 ? exp(fabs(x) / 2) / 2 * exp(fabs(x) / 2) : (e + e / (e + 1)) / 2;
  return copysign(r, x);
}
GRADE_DEVICE double cosh(double x) {
  double half = exp(fabs(x) / 2);
  return half / 2 * half + 0.5 / half / half;
}
GRADE_DEVICE double tanh(double x) {
  double e = expm1(2 * fabs(x));
  return copysign(fabs(x) > 20 ? 1 : e / (e + 2), x);
}
GRADE_DEVICE double asinh(double x) {
  double a = fabs(x);
  return copysign(a > 1e8 ? log(a) + 0.69314718055994531
                          : log1p(a + a * a / (1 + sqrt(a * a + 1))), x);
}
GRADE_DEVICE double acosh(double x) { return log(x + sqrt((x - 1) * (x + 1))); }
GRADE_DEVICE double atanh(double x) {
  double a = fabs(x);
  return copysign(0.5 * log1p(2 * a / (1 - a)), x);
}
GRADE_DEVICE double rsqrt(double x) { return 1 / sqrt(x); }
GRADE_DEVICE double cbrt(double x) {
  if (x == 0 || !(fabs(x) < grade_infinity())) return x;
  double r = exp(log(fabs(x)) / 3);
  r -= (r * r * r - fabs(x)) / (3 * r * r);
  return copysign(r, x);
}
GRADE_DEVICE double hypot(double x, double y) {
  double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
  if (a == 0 || !(a < grade_infinity())) return a;
  b /= a;
  return a * sqrt(fma(b, b, 1));
}
GRADE_DEVICE double fmod(double x, double y) {
  double a = fabs(x), b = fabs(y);
  if (!(a < grade_infinity()) || !(b > 0)) return __builtin_nan("");
  if (!(b < grade_infinity())) return x;
  while (a >= b) {
    int ea, eb;
    frexp(a, &ea);
    frexp(b, &eb);
    double step = ldexp(b, ea - eb);
    a -= step <= a ? step : step / 2;
  }
  return copysign(a, x);
}

// erf by its Taylor series near zero, erfc by Lentz's continued fraction far from it.
GRADE_DEVICE double grade_erf_series(double x) {
  double t = x * x, term = x, sum = x;
  for (int n = 1; n < 60; ++n) {
    term *= -t / n;
    sum += term / (2 * n + 1);
  }
  return 1.12837916709551257390 * sum;
}
GRADE_DEVICE double grade_erfc_fraction(double x) {  // x >= 2
  double value = 0;
  for (int n = 60; n >= 1; --n) value = n / 2.0 / (x + value);
  return exp(-x * x) / (x + value) * 0.56418958354775628695;
}
GRADE_DEVICE double erf(double x) {
  if (x != x) return x;
  return fabs(x) < 2 ? grade_erf_series(x) : copysign(1 - grade_erfc_fraction(fabs(x)), x);
}
GRADE_DEVICE double erfc(double x) {
  if (x != x) return x;
  if (fabs(x) < 2) return 1 - grade_erf_series(x);
  return x > 0 ? (x > 27.3 ? 0 : grade_erfc_fraction(x)) : 2 - grade_erfc_fraction(-x);
}
// Lanczos' approximation with g = 7 and nine terms.
GRADE_DEVICE double grade_lanczos(double x) {
  double c[] = {676.5203681218851, -1259.1392167224028, 771.32342877765313,
                -176.61502916214059, 12.507343278686905, -0.13857109526572012,
                9.9843695780195716e-6, 1.5056327351493116e-7};
  double sum = 0.99999999999980993;
  for (int i = 0; i < 8; ++i) sum += c[i] / (x + i + 1);
  return sum;
}
GRADE_DEVICE double lgamma(double x) {
  if (x < 0.5) return log(3.14159265358979323846 / fabs(sinpi(x))) - ([](double z) {
    double t = z + 7.5;
    return 0.91893853320467274178 + (z + 0.5) * log(t) - t + log(grade_lanczos(z));
  })(-x);
  double z = x - 1, t = z + 7.5;
  return 0.91893853320467274178 + (z + 0.5) * log(t) - t + log(grade_lanczos(z));
}
GRADE_DEVICE double tgamma(double x) {
  if (x < 0.5) return 3.14159265358979323846 / (sinpi(x) * exp(lgamma(1 - x)));
  return trunc(x) == x && x < 20 ? rint(exp(lgamma(x))) : exp(lgamma(x));
}
GRADE_DEVICE double fdim(double x, double y) { return x > y ? x - y : 0; }
GRADE_DEVICE double logb(double x) {
  int e;
  frexp(x, &e);
  return x == 0 ? -grade_infinity() : fabs(x) < grade_infinity() ? e - 1 : fabs(x);
}
GRADE_DEVICE int ilogb(double x) { return (int)logb(x); }
GRADE_DEVICE double scalbn(double x, int n) { return ldexp(x, n); }
GRADE_DEVICE double modf(double x, double* whole) {
  *whole = trunc(x);
  return fabs(x) < grade_infinity() ? copysign(x - *whole, x) : copysign(0.0, x);
}
GRADE_DEVICE double remquo(double x, double y, int* quotient) {
  double r = fmod(fabs(x), 2 * fabs(y));
  int q = 0;
  double b = fabs(y);
  if (r >= b) {
    r -= b;
    q = 1;
  }
  if (2 * r > b || (2 * r == b && q == 1)) {
    r -= b;
    ++q;
  }
  *quotient = (x < 0) != (y < 0) ? -q : q;
  return x < 0 ? -r : r;
}
GRADE_DEVICE double remainder(double x, double y) {
  int q;
  return remquo(x, y, &q);
}
GRADE_DEVICE double nextafter(double x, double y) {
  if (x != x || y != y || x == y) return x == y ? y : x + y;
  if (x == 0) return copysign(0x1p-1074, y);
  return __builtin_bit_cast(double, grade_bits(x) + ((x < y) == (x > 0) ? 1 : -1));
}

// ---- float ----------------------------------------------------------------------------------

#define GRADE_APPROXIMATE(name, instruction)                        \
  GRADE_DEVICE float name(float x) {                                \
    float r;                                                        \
    asm(instruction ".approx.f32 %0, %1;" : "=f"(r) : "f"(x));      \
    return r;                                                       \
  }
GRADE_APPROXIMATE(exp2f, "ex2") GRADE_APPROXIMATE(log2f, "lg2") GRADE_APPROXIMATE(sinf, "sin")
GRADE_APPROXIMATE(cosf, "cos") GRADE_APPROXIMATE(tanhf, "tanh") GRADE_APPROXIMATE(rsqrtf, "rsqrt")
#undef GRADE_APPROXIMATE
// 2^(x log2 e): what rounding the product loses is put back as a factor.
GRADE_DEVICE float expf(float x) {
  float high = x * 1.44269504f, low = fmaf(x, 1.44269504f, -high) + x * 1.92596303e-8f;
  float r = exp2f(high);
  return fabsf(high) < 200 ? fmaf(r, low * 0.693147181f, r) : r;
}
GRADE_DEVICE float exp10f(float x) {
  float high = x * 3.32192802f, low = fmaf(x, 3.32192802f, -high) + x * 7.05956975e-8f;
  float r = exp2f(high);
  return fabsf(high) < 200 ? fmaf(r, low * 0.693147181f, r) : r;
}
GRADE_DEVICE float logf(float x) {
  float k = log2f(x), r = k * 0.693147181f;
  return fabsf(k) < 200 ? fmaf(k, -1.90465421e-9f, r) : r;
}
GRADE_DEVICE float log10f(float x) { return log2f(x) * 0.301029996f; }
GRADE_DEVICE float log1pf(float x) {
  float u = 1 + x;
  return u == 1 ? x : fabsf(u) < __builtin_huge_valf() ? logf(u) + (x - (u - 1)) / u : logf(u);
}
GRADE_DEVICE float tanf(float x) { return sinf(x) / cosf(x); }
GRADE_DEVICE float sinpif(float x) {
  float r = x - 2 * rintf(x * 0.5f);
  return sinf(r * 3.14159265f);
}
GRADE_DEVICE float cospif(float x) {
  float r = x - 2 * rintf(x * 0.5f);
  return cosf(r * 3.14159265f);
}

#define GRADE_NARROW1(name) GRADE_DEVICE float name##f(float x) { return (float)name((double)x); }
#define GRADE_NARROW2(name) \
  GRADE_DEVICE float name##f(float x, float y) { return (float)name((double)x, (double)y); }
GRADE_NARROW1(erf) GRADE_NARROW1(erfc) GRADE_NARROW1(lgamma) GRADE_NARROW1(tgamma)
GRADE_NARROW1(logb) GRADE_NARROW1(expm1) GRADE_NARROW1(asin) GRADE_NARROW1(acos)
GRADE_NARROW1(atan) GRADE_NARROW1(sinh) GRADE_NARROW1(cosh) GRADE_NARROW1(asinh)
GRADE_NARROW1(acosh) GRADE_NARROW1(atanh) GRADE_NARROW1(cbrt)
GRADE_NARROW2(pow) GRADE_NARROW2(atan2) GRADE_NARROW2(fmod)
GRADE_NARROW2(hypot) GRADE_NARROW2(fdim) GRADE_NARROW2(remainder)
#undef GRADE_NARROW1
#undef GRADE_NARROW2
GRADE_DEVICE float ldexpf(float x, int n) { return (float)ldexp((double)x, n); }
GRADE_DEVICE float scalbnf(float x, int n) { return ldexpf(x, n); }
GRADE_DEVICE float frexpf(float x, int* e) { return (float)frexp((double)x, e); }
GRADE_DEVICE int ilogbf(float x) { return ilogb((double)x); }
GRADE_DEVICE float modff(float x, float* whole) {
  double part, rest = modf((double)x, &part);
  *whole = (float)part;
  return (float)rest;
}
GRADE_DEVICE float nextafterf(float x, float y) {
  if (x != x || y != y || x == y) return x == y ? y : x + y;
  if (x == 0) return copysignf(0x1p-149f, y);
  int bits = __builtin_bit_cast(int, x) + ((x < y) == (x > 0) ? 1 : -1);
  return __builtin_bit_cast(float, bits);
}
GRADE_DEVICE long lround(double x) { return (long)round(x); }
GRADE_DEVICE long long llround(double x) { return (long long)round(x); }
GRADE_DEVICE long lrint(double x) { return (long)rint(x); }
GRADE_DEVICE long long llrint(double x) { return (long long)rint(x); }
GRADE_DEVICE long lroundf(float x) { return (long)roundf(x); }
GRADE_DEVICE long lrintf(float x) { return (long)rintf(x); }
GRADE_DEVICE void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
GRADE_DEVICE void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
GRADE_DEVICE void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
GRADE_DEVICE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
GRADE_DEVICE double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
GRADE_DEVICE float rhypotf(float x, float y) { return 1 / hypotf(x, y); }
GRADE_DEVICE float fdividef(float x, float y) { return x / y; }

// ---- C++'s overloads ------------------------------------------------------------------------

// For integers and mixed types see grade_overloads.h, which both compilers share.
#define GRADE_OVERLOAD1(name) \
  GRADE_DEVICE float name(float x) { return name##f(x); }
#define GRADE_OVERLOAD2(name) \
  GRADE_DEVICE float name(float x, float y) { return name##f(x, y); }
GRADE_OVERLOAD1(exp) GRADE_OVERLOAD1(exp2) GRADE_OVERLOAD1(exp10) GRADE_OVERLOAD1(expm1)
GRADE_OVERLOAD1(log) GRADE_OVERLOAD1(log2) GRADE_OVERLOAD1(log10) GRADE_OVERLOAD1(log1p)
GRADE_OVERLOAD1(sin) GRADE_OVERLOAD1(cos) GRADE_OVERLOAD1(tan) GRADE_OVERLOAD1(asin)
GRADE_OVERLOAD1(acos) GRADE_OVERLOAD1(atan) GRADE_OVERLOAD1(sinh) GRADE_OVERLOAD1(cosh)
GRADE_OVERLOAD1(tanh) GRADE_OVERLOAD1(asinh) GRADE_OVERLOAD1(acosh) GRADE_OVERLOAD1(atanh)
GRADE_OVERLOAD1(cbrt) GRADE_OVERLOAD1(rsqrt) GRADE_OVERLOAD1(sqrt) GRADE_OVERLOAD1(fabs)
GRADE_OVERLOAD1(floor) GRADE_OVERLOAD1(ceil) GRADE_OVERLOAD1(trunc) GRADE_OVERLOAD1(rint)
GRADE_OVERLOAD1(nearbyint) GRADE_OVERLOAD1(round) GRADE_OVERLOAD1(erf) GRADE_OVERLOAD1(erfc)
GRADE_OVERLOAD1(lgamma) GRADE_OVERLOAD1(tgamma) GRADE_OVERLOAD1(logb)
GRADE_OVERLOAD2(pow) GRADE_OVERLOAD2(fmod) GRADE_OVERLOAD2(atan2) GRADE_OVERLOAD2(fmin)
GRADE_OVERLOAD2(fmax) GRADE_OVERLOAD2(copysign) GRADE_OVERLOAD2(hypot) GRADE_OVERLOAD2(fdim)
GRADE_OVERLOAD2(remainder) GRADE_OVERLOAD2(nextafter)
#undef GRADE_OVERLOAD1
#undef GRADE_OVERLOAD2
GRADE_DEVICE float pow(float x, int y) { return powf(x, (float)y); }
GRADE_DEVICE double pow(double x, int y) { return pow(x, (double)y); }
GRADE_DEVICE float fma(float x, float y, float z) { return fmaf(x, y, z); }
GRADE_DEVICE float ldexp(float x, int n) { return ldexpf(x, n); }
GRADE_DEVICE float scalbn(float x, int n) { return ldexpf(x, n); }
GRADE_DEVICE float frexp(float x, int* e) { return frexpf(x, e); }
GRADE_DEVICE int ilogb(float x) { return ilogbf(x); }
GRADE_DEVICE float modf(float x, float* whole) { return modff(x, whole); }
GRADE_DEVICE float remquo(float x, float y, int* q) { return (float)remquo((double)x, (double)y, q); }
GRADE_DEVICE long lround(float x) { return lroundf(x); }
GRADE_DEVICE long long llround(float x) { return (long long)roundf(x); }
GRADE_DEVICE long lrint(float x) { return lrintf(x); }
GRADE_DEVICE long long llrint(float x) { return (long long)rintf(x); }

#define GRADE_CLASSIFY(name)                                         \
  GRADE_DEVICE bool name(float x) { return __builtin_##name(x); }    \
  GRADE_DEVICE bool name(double x) { return __builtin_##name(x); }
GRADE_CLASSIFY(isnan) GRADE_CLASSIFY(isinf) GRADE_CLASSIFY(isfinite) GRADE_CLASSIFY(signbit)
#undef GRADE_CLASSIFY

GRADE_BOTH int abs(int x) { return x < 0 ? -x : x; }
GRADE_BOTH long abs(long x) { return x < 0 ? -x : x; }
GRADE_BOTH long long abs(long long x) { return x < 0 ? -x : x; }
GRADE_BOTH long labs(long x) { return abs(x); }
GRADE_BOTH long long llabs(long long x) { return abs(x); }
GRADE_DEVICE float abs(float x) { return fabsf(x); }
GRADE_DEVICE double abs(double x) { return fabs(x); }

// The pairs of types that CUDA has, and no others: min of a float and an int is ambiguous.
#define GRADE_EXTREMES(A, B, T)                                       \
  GRADE_BOTH T min(A x, B y) { return (T)y < (T)x ? (T)y : (T)x; }    \
  GRADE_BOTH T max(A x, B y) { return (T)x < (T)y ? (T)y : (T)x; }
#define GRADE_EXTREMES_OF(S, U) \
  GRADE_EXTREMES(S, S, S) GRADE_EXTREMES(U, U, U) GRADE_EXTREMES(S, U, U) GRADE_EXTREMES(U, S, U)
GRADE_EXTREMES_OF(int, unsigned)
GRADE_EXTREMES_OF(long, unsigned long)
GRADE_EXTREMES_OF(long long, unsigned long long)
#undef GRADE_EXTREMES_OF
#undef GRADE_EXTREMES
GRADE_DEVICE float min(float x, float y) { return fminf(x, y); }
GRADE_DEVICE float max(float x, float y) { return fmaxf(x, y); }
GRADE_DEVICE double min(double x, double y) { return fmin(x, y); }
GRADE_DEVICE double max(double x, double y) { return fmax(x, y); }
GRADE_DEVICE double min(float x, double y) { return fmin((double)x, y); }
GRADE_DEVICE double max(float x, double y) { return fmax((double)x, y); }
GRADE_DEVICE double min(double x, float y) { return fmin(x, (double)y); }
GRADE_DEVICE double max(double x, float y) { return fmax(x, (double)y); }
GRADE_DEVICE unsigned umin(unsigned x, unsigned y) { return min(x, y); }
GRADE_DEVICE unsigned umax(unsigned x, unsigned y) { return max(x, y); }
