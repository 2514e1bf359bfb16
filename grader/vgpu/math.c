/* Elementary functions: the .approx instructions of PTX, and the functions Metal calls.
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
#define LOG2_10 0x1.a934f0979a371p+1
#define LOG10_2 0x1.34413509f79ffp-2
#define PI 0x1.921fb54442d18p+1
#define PI_2 0x1.921fb54442d18p+0
#define PI_4 0x1.921fb54442d18p-1
#define TAN_PI_8 0x1.a827999fcef32p-2
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

static inline double log_of(double x) {
    double exponent, m = log_of_mantissa(x, &exponent);
    return exponent * LN2 + m;
}

/* ln(1 + x) for x > -1, accurate near 0: ln(u) corrected for what rounding u = 1 + x lost. */
static inline double log1p_of(double x) {
    double u = 1 + x;
    return u == 1 ? x : log_of(u) + (x - (u - 1)) / u;
}

/* e^x - 1 for |x| < 100. */
static inline double expm1_of(double x) {
    double series = x + x * x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x / 120)));
    return magnitude(x) < 0x1p-8 ? series : exp2_of(x * LOG2_E) - 1;
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
    double shifted = x * (2 / PI) + ROUNDER, n = shifted - ROUNDER;
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

static inline double reduce(float x, uint64_t *quadrant) {
    return magnitude(x) <= SMALL_ANGLE ? reduce_small(x, quadrant) : reduce_large(x, quadrant);
}
static inline int is_infinite(float x) { return (bits_of_float(x) & 0x7fffffff) == 0x7f800000; }

/* arctan of x >= 0, infinity included. */
static double atan_of(double x) {
    int inverted = x > 1;
    double y = inverted ? 1 / x : x;
    int turned = y > TAN_PI_8;
    double z = turned ? (y - 1) / (y + 1) : y, w = z * z; /* |z| <= tan(pi/8) */
    double p = 0;
    for (int k = 39; k >= 3; k -= 2) p = w * (((k & 2) ? -1.0 : 1.0) / k + p);
    double angle = z + z * p + (turned ? PI_4 : 0);
    return inverted ? PI_2 - angle : angle;
}

/* ---- The approximate instructions ------------------------------------------------------------ */

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

/* rsqrt.approx.f32 */
float vg_rsqrtf(float x) { return canonical((float)(1 / __builtin_sqrt(x))); }
FOR_WARP(vg_rsqrtf)

/* rcp.approx.f32 */
float vg_rcpf(float x) { return canonical(1 / x); }
FOR_WARP(vg_rcpf)

/* sqrt.approx.f32 */
float vg_sqrtf_approx(float x) { return canonical(__builtin_sqrtf(x)); }
FOR_WARP(vg_sqrtf_approx)

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

/* ---- The precise float functions that Metal's header calls ------------------------------------ */

float vg_exp2f_p(float x) { return vg_ex2f(x); }
float vg_expf_p(float x) { return canonical(x != x ? x : (float)exp2_of((double)x * LOG2_E)); }
float vg_exp10f_p(float x) { return canonical(x != x ? x : (float)exp2_of((double)x * LOG2_10)); }
float vg_log2f_p(float x) { return vg_lg2f(x); }
float vg_logf_p(float x) { return x > 0 && !is_infinite(x) ? (float)log_of(x) : vg_lg2f(x); }
float vg_log10f_p(float x) {
    return x > 0 && !is_infinite(x) ? (float)(log2_of(x) * LOG10_2) : vg_lg2f(x);
}
float vg_expm1f_p(float x) {
    return canonical(x != x || x == 0 ? x : (float)expm1_of(clamp(x, -100, 100)));
}
float vg_log1pf_p(float x) {
    return x > -1 && !is_infinite(x) && x != 0 ? (float)log1p_of(x) : x == 0 ? x : vg_lg2f(1 + x);
}
float vg_sinf_p(float x) { return vg_sinf(x); }
float vg_cosf_p(float x) { return vg_cosf(x); }
float vg_tanf_p(float x) {
    if (x != x || is_infinite(x)) return float_of_bits(NAN_F32);
    if (x == 0) return x;
    uint64_t quadrant;
    double r = reduce(x, &quadrant);
    return (float)(sin_in_quadrant(r, quadrant) / sin_in_quadrant(r, quadrant + 1));
}

/* sin(pi x): the fraction of a half turn is exact in double. */
static double sin_of_half_turns(float x, uint64_t quarter) {
    double half_turns = magnitude(x) < 0x1p24 ? x : 0; /* larger floats are even */
    double shifted = half_turns * 2 + ROUNDER;
    double r = (half_turns - (shifted - ROUNDER) / 2) * PI;
    return sin_in_quadrant(r, bits_of_double(shifted) + quarter);
}
float vg_sinpif_p(float x) {
    if (x != x || is_infinite(x)) return float_of_bits(NAN_F32);
    float r = (float)sin_of_half_turns(x, 0);
    return r == 0 ? sign_of(0, x) : r; /* IEEE 754: sinPi(n) has the sign of n */
}
float vg_cospif_p(float x) {
    if (x != x || is_infinite(x)) return float_of_bits(NAN_F32);
    float r = (float)sin_of_half_turns(x, 1);
    return r == 0 ? 0 : r;
}
float vg_tanpif_p(float x) {
    if (x != x || is_infinite(x)) return float_of_bits(NAN_F32);
    return (float)(sin_of_half_turns(x, 0) / sin_of_half_turns(x, 1));
}

float vg_atanf_p(float x) { return canonical(x != x ? x : sign_of((float)atan_of(magnitude(x)), x)); }
float vg_atan2f_p(float y, float x) {
    if (x != x || y != y) return float_of_bits(NAN_F32);
    double ratio = magnitude(y) / magnitude(x);
    double angle = y == 0 && x == 0 ? 0 : is_infinite(y) && is_infinite(x) ? PI_4 : atan_of(ratio);
    return sign_of((float)(bits_of_float(x) >> 31 ? PI - angle : angle), y);
}
float vg_asinf_p(float x) {
    double a = magnitude(x);
    if (!(a <= 1)) return float_of_bits(NAN_F32);
    return sign_of((float)atan_of(a / __builtin_sqrt((1 - a) * (1 + a))), x);
}
float vg_acosf_p(float x) {
    double a = x;
    if (!(magnitude(a) <= 1)) return float_of_bits(NAN_F32);
    double angle = atan_of(__builtin_sqrt((1 - a) * (1 + a)) / magnitude(a));
    return (float)(a < 0 ? PI - angle : angle);
}

float vg_sinhf_p(float x) {
    double a = clamp(magnitude(x), 0, 100), e = expm1_of(a);
    return canonical(x != x ? x : sign_of((float)((e + e / (e + 1)) / 2), x));
}
float vg_coshf_p(float x) {
    double e = exp2_of(clamp(magnitude(x), 0, 100) * LOG2_E);
    return canonical(x != x ? x : (float)((e + 1 / e) / 2));
}
float vg_tanhf_p(float x) { return vg_tanhf(x); }
float vg_asinhf_p(float x) {
    double a = magnitude(x);
    if (x != x || is_infinite(x)) return canonical(x);
    return sign_of((float)log1p_of(a + a * a / (1 + __builtin_sqrt(1 + a * a))), x);
}
float vg_acoshf_p(float x) {
    double t = (double)x - 1;
    if (!(t >= 0)) return float_of_bits(NAN_F32);
    return is_infinite(x) ? x : (float)log1p_of(t + __builtin_sqrt(2 * t + t * t));
}
float vg_atanhf_p(float x) {
    double a = magnitude(x);
    if (!(a <= 1)) return float_of_bits(NAN_F32);
    return sign_of(a == 1 ? float_of_bits(0x7f800000) : (float)(log1p_of(2 * a / (1 - a)) / 2), x);
}

/* x^y with the special cases of C99 F.9.4.4. */
float vg_powf_p(float x, float y) {
    if (x == 1 || y == 0) return 1;
    if (x != x || y != y) return float_of_bits(NAN_F32);
    double size = magnitude(y);
    int integral = size >= 0x1p24 || (double)(int32_t)y == y;
    int odd = size < 0x1p24 && integral && ((int32_t)y & 1);
    float sign = odd ? x : 1.0f;
    double base = magnitude(x);
    int grows = y > 0 ? base > 1 : base < 1;
    if (base == 0 || is_infinite(x) || is_infinite(y))
        return base == 1 ? 1 : sign_of(grows ? float_of_bits(0x7f800000) : 0, sign);
    if (x < 0 && !integral) return float_of_bits(NAN_F32);
    return sign_of((float)exp2_of(y * log2_of(base)), sign);
}
float vg_cbrtf_p(float x) {
    if (x != x || x == 0 || is_infinite(x)) return canonical(x);
    return sign_of((float)exp2_of(log2_of(magnitude(x)) / 3), x);
}
float vg_rsqrtf_p(float x) { return vg_rsqrtf(x); }

/* Remainder of truncating division, exact: mantissas are reduced 40 bits at a time. */
float vg_fmodf_p(float x, float y) {
    double a = magnitude(x), b = magnitude(y);
    if (x != x || y != y || is_infinite(x) || b == 0) return float_of_bits(NAN_F32);
    if (a < b) return x;
    int shift = (int)(bits_of_double(a) >> 52) - (int)(bits_of_double(b) >> 52);
    const uint64_t fraction = (1ull << 52) - 1, hidden = 1ull << 52;
    /* Floats widened to double have 24-bit mantissas: 29 zero bits below. */
    uint64_t rest = ((bits_of_double(a) & fraction) | hidden) >> 29;
    uint64_t divisor = ((bits_of_double(b) & fraction) | hidden) >> 29;
    for (rest %= divisor; shift > 0; shift -= 40) rest = (rest << (shift < 40 ? shift : 40)) % divisor;
    int unit = (int)(bits_of_double(b) >> 52) - 23; /* biased exponent of the divisor's last bit */
    return sign_of((float)((double)rest * double_of_bits((uint64_t)unit << 52)), x);
}
