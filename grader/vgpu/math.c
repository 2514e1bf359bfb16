/* Elementary functions: the .approx instructions of PTX.
 *
 * Each is evaluated in double from a series of the function itself (coefficients are the Taylor
 * coefficients, so they need no table to be trusted) to better than 2^-44 and rounded once, which
 * leaves 0.5001 units in the last place: inside every bound NVIDIA documents for ex2.approx (2 ulp),
 * lg2.approx (2^-22), sin/cos.approx (2^-20.5 absolute), tanh.approx (2^-11), rsqrt.approx
 * (2^-22.9), rcp.approx (1 ulp) and div.approx/full (2 ulp), PTX ISA "Floating Point
 * Instructions".  Subnormals are kept; the caller flushes operands and results of .ftz forms.
 */
#include "device_math.h"

#define LN2 0x1.62e42fefa39efp-1
#define LOG2_E 0x1.71547652b82fep+0
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define PI_2 0x1.921fb54442d18p+0
/* Adding and subtracting 1.5 * 2^52 rounds to an integer; the sum's low bits hold it. */
#define ROUNDER 0x1.8p52

#define FOR_WARP(name)                                                                         \
    void name##_v32(float *dst, const float *src) {                                            \
        float lanes[WARP];                                                                     \
        for (int i = 0; i < WARP; i++) lanes[i] = name(src[i]);                                \
        for (int i = 0; i < WARP; i++) dst[i] = lanes[i];                                      \
    }

static inline float sign_of(float magnitude, float sign) {
    return float_of_bits((bits_of_float(magnitude) & 0x7fffffff) | (bits_of_float(sign) & 0x80000000));
}
static inline double magnitude(double x) { return double_of_bits(bits_of_double(x) << 1 >> 1); }
static inline double clamp(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* 2^x for |x| clamped to 200, where float has long been 0 or infinite. Relative error < 2^-50. */
static inline double exp2_of(double x) {
    x = clamp(x, -200, 200);
    double shifted = x + ROUNDER;
    double r = (x - (shifted - ROUNDER)) * LN2; /* |r| <= ln(2) / 2 */
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 1.0 / 2;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return double_of_bits(bits_of_double(p) + (bits_of_double(shifted) << 52));
}

/* ln(m) with x = m * 2^*exponent and m in [sqrt(1/2), sqrt(2)), for a normal double x > 0. */
static inline double log_of_mantissa(double x, double *exponent) {
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcdull, one = 0x3ff0000000000000ull;
    uint64_t biased = (bits_of_double(x) + (one - sqrt_half)) >> 52;
    *exponent = double_of_bits(biased | 0x4330000000000000ull) - (0x1p52 + 1023);
    double m = double_of_bits(bits_of_double(x) - ((biased - 1023) << 52));
    double s = (m - 1) / (m + 1), w = s * s; /* ln(m) = 2 artanh(s), w < 0.0295 */
    double p = 1.0 / 21;
    p = p * w + 1.0 / 19;
    p = p * w + 1.0 / 17;
    p = p * w + 1.0 / 15;
    p = p * w + 1.0 / 13;
    p = p * w + 1.0 / 11;
    p = p * w + 1.0 / 9;
    p = p * w + 1.0 / 7;
    p = p * w + 1.0 / 5;
    p = p * w + 1.0 / 3;
    return 2 * (s + s * w * p);
}

static inline double log2_of(double x) {
    double exponent, m = log_of_mantissa(x, &exponent);
    return exponent + m * LOG2_E;
}

/* sin and cos of |r| <= pi/4. */
static inline double sin_of(double r) {
    double w = r * r;
    double p = 1.0 / 6227020800.0;
    p = p * w - 1.0 / 39916800;
    p = p * w + 1.0 / 362880;
    p = p * w - 1.0 / 5040;
    p = p * w + 1.0 / 120;
    p = p * w - 1.0 / 6;
    return r + r * w * p;
}
static inline double cos_of(double r) {
    double w = r * r;
    double p = -1.0 / 87178291200.0;
    p = p * w + 1.0 / 479001600;
    p = p * w - 1.0 / 3628800;
    p = p * w + 1.0 / 40320;
    p = p * w - 1.0 / 720;
    p = p * w + 1.0 / 24;
    p = p * w - 1.0 / 2;
    return 1 + w * p;
}

/* The sine of r + quadrant * pi/2; adding one to the quadrant makes it the cosine. */
static inline double sin_in_quadrant(double r, uint64_t quadrant) {
    double v = quadrant & 1 ? cos_of(r) : sin_of(r);
    return double_of_bits(bits_of_double(v) ^ (quadrant & 2) << 62);
}

/* Cody and Waite: x = quadrant * pi/2 + r for |x| <= SMALL_ANGLE; pi/2 is a 33-bit head, whose
 * product with the quadrant is exact, and a double tail. */
#define SMALL_ANGLE 0x1p20
static inline double reduce_small(double x, uint64_t *quadrant) {
    double shifted = x * TWO_OVER_PI + ROUNDER, n = shifted - ROUNDER;
    *quadrant = bits_of_double(shifted);
    return x - n * 0x1.921fb544p+0 - n * 0x1.0b4611a626331p-34;
}

/* Payne and Hanek for any finite float: x * 2/pi modulo 4 in fixed point with 94 fraction bits, from
 * the 96 bits of 2/pi that matter at the exponent of x. */
static double reduce_large(float x, uint64_t *quadrant) {
    static const uint32_t two_over_pi[10] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                             0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0};
    uint32_t bits = bits_of_float(x);
    int exponent = (int)(bits >> 23 & 255) - 150; /* |x| = mantissa * 2^exponent, exponent >= -3 */
    uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
    int first = 30 + exponent, word = first >> 5, shift = first & 31; /* the bit of weight 2 */
    u128 window = 0;
    for (int i = 0; i < 4; i++) window = window << 32 | two_over_pi[word + i];
    window = window << shift >> 32;
    u128 turns = window * mantissa & ((((u128)1) << 96) - 1);
    uint64_t nearest = (uint64_t)((turns + ((u128)1 << 93)) >> 94);
    __int128 fraction = (__int128)(turns - ((u128)nearest << 94)); /* in [-1/2, 1/2) quadrant */
    double r = (double)(int64_t)(fraction >> 32) * 0x1p-62 * PI_2;
    int negative = (int)(bits >> 31);
    *quadrant = (negative ? 4 - nearest : nearest) & 3;
    return negative ? -r : r;
}

static inline int is_infinite(float x) { return (bits_of_float(x) & 0x7fffffff) == 0x7f800000; }

/* ex2.approx.f32 */
float vg_ex2f(float x) { return canonical(x != x ? x : (float)exp2_of(x)); }
FOR_WARP(vg_ex2f)

/* lg2.approx.f32: -infinity at either zero, NaN below. */
float vg_lg2f(float x) {
    float r = (float)log2_of(x > 0 && !is_infinite(x) ? x : 1.0f);
    r = x > 0 ? (is_infinite(x) ? x : r) : float_of_bits(NAN_F32);
    return x == 0 ? float_of_bits(0xff800000) : r;
}
FOR_WARP(vg_lg2f)

static inline float sin_small(float x, int quarter) {
    uint64_t quadrant;
    double r = reduce_small(x, &quadrant);
    float v = (float)sin_in_quadrant(r, quadrant + (uint64_t)quarter);
    return x == 0 && !quarter ? x : v;
}
static float sin_any(float x, int quarter) {
    if (x != x || is_infinite(x)) return float_of_bits(NAN_F32);
    if (magnitude(x) <= SMALL_ANGLE) return sin_small(x, quarter);
    uint64_t quadrant;
    double r = reduce_large(x, &quadrant);
    return (float)sin_in_quadrant(r, quadrant + (uint64_t)quarter);
}
static inline void sin_v32(float *dst, const float *src, int quarter) {
    float lanes[WARP];
    int large = 0;
    for (int i = 0; i < WARP; i++) lanes[i] = sin_small(src[i], quarter);
    for (int i = 0; i < WARP; i++) large |= !(magnitude(src[i]) <= SMALL_ANGLE);
    if (large)
        for (int i = 0; i < WARP; i++) lanes[i] = sin_any(src[i], quarter);
    for (int i = 0; i < WARP; i++) dst[i] = lanes[i];
}

/* sin.approx.f32, cos.approx.f32: NaN at infinities; accurate over the whole range. */
float vg_sinf(float x) { return sin_any(x, 0); }
float vg_cosf(float x) { return sin_any(x, 1); }
void vg_sinf_v32(float *dst, const float *src) { sin_v32(dst, src, 0); }
void vg_cosf_v32(float *dst, const float *src) { sin_v32(dst, src, 1); }

/* tanh.approx.f32 */
float vg_tanhf(float x) {
    double a = clamp(magnitude(x), 0, 20), w = a * a;
    double e = exp2_of(a * (2 * LOG2_E));
    double large = (e - 1) / (e + 1);
    double small = a - a * w * (1.0 / 3 - w * (2.0 / 15 - w * (17.0 / 315)));
    float r = sign_of((float)(a < 0x1p-6 ? small : large), x);
    return canonical(x != x ? x : r);
}
FOR_WARP(vg_tanhf)

/* div.approx.f32: for 2^126 < |b| < 2^128 the reciprocal of b is flushed, so the quotient is 0, or
 * NaN for an infinite a (PTX ISA, div). */
float vg_divf_approx(float a, float b) {
    double size = magnitude(b);
    float reciprocal = size > 0x1p126 && size < 0x1p128 ? sign_of(0, b) : 1.0f;
    return canonical(reciprocal == 0 ? a * reciprocal : a / b);
}
void vg_divf_approx_v32(float *dst, const float *a, const float *b) {
    float lanes[WARP];
    for (int i = 0; i < WARP; i++) lanes[i] = vg_divf_approx(a[i], b[i]);
    for (int i = 0; i < WARP; i++) dst[i] = lanes[i];
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits of the operand (sign,
 * exponent, 20 bits of mantissa), flush subnormals, and give an upper half with a zero lower one. */
static inline double upper_half(double x) {
    uint64_t bits = bits_of_double(x), exponent = bits >> 52 & 2047;
    return double_of_bits(exponent ? bits & 0xffffffff00000000ull : bits >> 63 << 63);
}
double vg_rcp_approx_ftz_f64(double x) {
    return x != x ? double_of_bits(NAN_F64) : upper_half(1 / upper_half(x));
}
double vg_rsqrt_approx_ftz_f64(double x) {
    double r = 1 / __builtin_sqrt(upper_half(x));
    return x != x || r != r ? double_of_bits(NAN_F64) : upper_half(r);
}
#define FOR_WARP_F64(name)                                                                     \
    void name##_v32(double *dst, const double *src) {                                          \
        for (int i = 0; i < WARP; i++) dst[i] = name(src[i]);                                  \
    }
FOR_WARP_F64(vg_rcp_approx_ftz_f64)
FOR_WARP_F64(vg_rsqrt_approx_ftz_f64)
