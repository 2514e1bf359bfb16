/* Arithmetic in every rounding mode and format of PTX: add mul fma div sqrt, and conversions.
 *
 * One mechanism: the exact result as sign, 128-bit integer and exponent of two (with everything
 * below collected in the lowest bit), rounded once to the format asked for.  The host's own
 * operations round to nearest only, and a host without a fused multiply-add must agree with one
 * that has it.
 */
#include "device_math.h"

typedef struct {
    int precision;  /* bits of the significand with the hidden one */
    int bias;       /* of the exponent; also its largest value */
    int width;      /* bits of the whole */
    uint64_t nan;
} Format;

static const Format F64 = {53, 1023, 64, NAN_F64};
static const Format F32 = {24, 127, 32, NAN_F32};

/* (-1)^negative * magnitude * 2^exponent; the lowest bit may stand for "and a little more". */
typedef struct {
    int negative;
    u128 magnitude;
    int exponent;
} Exact;

enum { ZERO, FINITE, INFINITE, NOT_A_NUMBER };

static int classify(double x) {
    uint64_t bits = bits_of_double(x) << 1;
    if (bits == 0) return ZERO;
    return bits < 0xffe0000000000000ull    ? FINITE
           : bits == 0xffe0000000000000ull ? INFINITE
                                                  : NOT_A_NUMBER;
}
static int is_negative(double x) { return (int)(bits_of_double(x) >> 63); }

/* Any finite double, with the significand's leading bit at bit 52. */
static Exact unpack(double x) {
    uint64_t bits = bits_of_double(x), mantissa = bits & ((1ull << 52) - 1);
    int biased = (int)(bits >> 52 & 2047), exponent = (biased ? biased : 1) - 1075;
    if (biased) mantissa |= 1ull << 52;
    for (; mantissa && !(mantissa >> 52); exponent--) mantissa <<= 1;
    return (Exact){is_negative(x), mantissa, exponent};
}
static int leading_bit(u128 x) {
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}
static u128 shift_right_sticky(u128 x, int by) {
    if (by <= 0) return x;
    if (by > 127) return x != 0;
    return x >> by | ((x & ((((u128)1) << by) - 1)) != 0);
}

static uint64_t infinity_of(Format f, int negative) {
    uint64_t bits = (uint64_t)(2 * f.bias + 1) << (f.precision - 1);
    return bits | (uint64_t)negative << (f.width - 1);
}
static uint64_t zero_of(Format f, int negative) { return (uint64_t)negative << (f.width - 1); }

/* Round an exact non-zero value once to the bits of `f`. */
static uint64_t round_to(Format f, Exact x, int mode) {
    int away = mode == TOWARD_PLUS_INFINITY ? !x.negative : mode == TOWARD_MINUS_INFINITY && x.negative;
    int exponent = leading_bit(x.magnitude) + x.exponent; /* of the leading bit */
    int lowest = 1 - f.bias;                              /* of the smallest normal number */
    int quantum = (exponent > lowest ? exponent : lowest) - (f.precision - 1);
    /* Two bits below the quantum, the lower one sticky, decide every rounding. */
    int shift = quantum - 2 - x.exponent;
    u128 kept = shift > 0 ? shift_right_sticky(x.magnitude, shift) : x.magnitude << -shift;
    uint64_t mantissa = (uint64_t)(kept >> 2);
    unsigned rest = (unsigned)kept & 3;
    if (mode == NEAREST_EVEN ? rest > 2 || (rest == 2 && (mantissa & 1)) : away && rest) mantissa++;
    /* A carry out of the mantissa lands in the exponent, which is then the right one. */
    uint64_t hidden = 1ull << (f.precision - 1);
    uint64_t biased = (uint64_t)(quantum + f.precision - 1 + f.bias);
    uint64_t bits = mantissa >= hidden ? mantissa - hidden + (biased << (f.precision - 1)) : mantissa;
    uint64_t infinite = infinity_of(f, 0);
    if (bits >= infinite) bits = mode == NEAREST_EVEN || away ? infinite : infinite - 1;
    return bits | zero_of(f, x.negative);
}

/* a * b + c. The sign of an exact zero is minus only when rounding down, or both terms have it. */
static uint64_t fma_to(Format f, double a, double b, double c, int mode) {
    int ka = classify(a), kb = classify(b), kc = classify(c);
    int negative = is_negative(a) ^ is_negative(b);
    if (ka == NOT_A_NUMBER || kb == NOT_A_NUMBER || kc == NOT_A_NUMBER) return f.nan;
    if (ka == INFINITE || kb == INFINITE) {
        int invalid = ka == ZERO || kb == ZERO || (kc == INFINITE && is_negative(c) != negative);
        return invalid ? f.nan : infinity_of(f, negative);
    }
    if (kc == INFINITE) return infinity_of(f, is_negative(c));
    int minus_zero = mode == TOWARD_MINUS_INFINITY;
    if (ka == ZERO || kb == ZERO) {
        if (kc != ZERO) return round_to(f, unpack(c), mode);
        return zero_of(f, negative == is_negative(c) ? negative : minus_zero);
    }
    Exact x = unpack(a), y = unpack(b), z = unpack(c);
    x.magnitude *= y.magnitude;
    x.exponent += y.exponent;
    x.negative = negative;
    if (kc == ZERO) return round_to(f, x, mode);
    /* Both leading bits to bit 125; the smaller one is then shifted down with its tail sticky. At
     * bit 125 either has over 19 zero bits below, so a shift by one, the only one after which
     * cancellation can be deep, loses nothing. */
    int up = 125 - leading_bit(x.magnitude);
    x.magnitude <<= up;
    x.exponent -= up;
    up = 125 - leading_bit(z.magnitude);
    z.magnitude <<= up;
    z.exponent -= up;
    Exact large = x.exponent >= z.exponent ? x : z, small = x.exponent >= z.exponent ? z : x;
    small.magnitude = shift_right_sticky(small.magnitude, large.exponent - small.exponent);
    if (large.negative == small.negative) {
        large.magnitude += small.magnitude;
    } else if (large.magnitude >= small.magnitude) {
        large.magnitude -= small.magnitude;
    } else {
        large.magnitude = small.magnitude - large.magnitude;
        large.negative = small.negative;
    }
    return large.magnitude ? round_to(f, large, mode) : zero_of(f, minus_zero);
}

static uint64_t mul_to(Format f, double a, double b, int mode) {
    double signed_zero = is_negative(a) ^ is_negative(b) ? -0.0 : 0.0;
    return fma_to(f, a, b, signed_zero, mode);
}

static uint64_t div_to(Format f, double a, double b, int mode) {
    int ka = classify(a), kb = classify(b), negative = is_negative(a) ^ is_negative(b);
    if (ka == NOT_A_NUMBER || kb == NOT_A_NUMBER || (ka == kb && ka != FINITE)) return f.nan;
    if (ka == INFINITE || kb == ZERO) return infinity_of(f, negative);
    if (ka == ZERO || kb == INFINITE) return zero_of(f, negative);
    Exact x = unpack(a), y = unpack(b);
    uint64_t rest = (uint64_t)x.magnitude, divisor = (uint64_t)y.magnitude, quotient = 0;
    for (int bit = 0; bit < 62; bit++, rest <<= 1) {
        quotient <<= 1;
        if (rest >= divisor) rest -= divisor, quotient |= 1;
    }
    return round_to(f, (Exact){negative, (u128)quotient << 1 | (rest != 0), x.exponent - y.exponent - 62}, mode);
}

static uint64_t sqrt_to(Format f, double a, int mode) {
    int kind = classify(a);
    if (kind == ZERO) return zero_of(f, is_negative(a));
    if (kind == NOT_A_NUMBER || is_negative(a)) return f.nan;
    if (kind == INFINITE) return infinity_of(f, 0);
    Exact x = unpack(a);
    int up = 72 + (x.exponent & 1); /* to a radicand of 125 or 126 bits and an even exponent */
    u128 rest = x.magnitude << up, root = 0;
    for (u128 bit = (u128)1 << 126; bit; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return round_to(f, (Exact){0, root << 1 | (rest != 0), (x.exponent - up) / 2 - 1}, mode);
}

static uint64_t integer_to(Format f, uint64_t magnitude, int negative, int mode) {
    return magnitude ? round_to(f, (Exact){negative, magnitude, 0}, mode) : 0;
}

/* ---- f32 and f64 in all modes (add.rz.f32, fma.rm.f64, div.rp.f32, sqrt.rm.f64 …) --------------- */

float vg_add_f32(float a, float b, int mode) { return float_of_bits((uint32_t)fma_to(F32, a, 1, b, mode)); }
float vg_mul_f32(float a, float b, int mode) { return float_of_bits((uint32_t)mul_to(F32, a, b, mode)); }
float vg_fma_f32(float a, float b, float c, int mode) {
    return float_of_bits((uint32_t)fma_to(F32, a, b, c, mode));
}
float vg_div_f32(float a, float b, int mode) { return float_of_bits((uint32_t)div_to(F32, a, b, mode)); }
float vg_sqrt_f32(float a, int mode) { return float_of_bits((uint32_t)sqrt_to(F32, a, mode)); }

double vg_add_f64(double a, double b, int mode) { return double_of_bits(fma_to(F64, a, 1, b, mode)); }
double vg_mul_f64(double a, double b, int mode) { return double_of_bits(mul_to(F64, a, b, mode)); }
double vg_fma_f64(double a, double b, double c, int mode) { return double_of_bits(fma_to(F64, a, b, c, mode)); }
double vg_div_f64(double a, double b, int mode) { return double_of_bits(div_to(F64, a, b, mode)); }
double vg_sqrt_f64(double a, int mode) { return double_of_bits(sqrt_to(F64, a, mode)); }

/* ---- Conversions that round ---------------------------------------------------------------------- */


static uint64_t size_of(int64_t x) { return x < 0 ? -(uint64_t)x : (uint64_t)x; }
float vg_s64_to_f32(int64_t x, int mode) { return float_of_bits((uint32_t)integer_to(F32, size_of(x), x < 0, mode)); }
float vg_u64_to_f32(uint64_t x, int mode) { return float_of_bits((uint32_t)integer_to(F32, x, 0, mode)); }
double vg_s64_to_f64(int64_t x, int mode) { return double_of_bits(integer_to(F64, size_of(x), x < 0, mode)); }
double vg_u64_to_f64(uint64_t x, int mode) { return double_of_bits(integer_to(F64, x, 0, mode)); }

/* ---- Directed rounding over a warp: rt_add_rz_f32, rt_fma_rm_f64, rt_cvt_rp_f32_s64 … ---------------- */

#define ONE(op, name, t, mode, type)                                                           \
    void rt_##op##_##name##_##t(type *dst, const type *a) {                                    \
        for (int i = 0; i < WARP; i++) dst[i] = vg_##op##_##t(a[i], mode);                     \
    }
#define TWO(op, name, t, mode, type)                                                           \
    void rt_##op##_##name##_##t(type *dst, const type *a, const type *b) {                     \
        for (int i = 0; i < WARP; i++) dst[i] = vg_##op##_##t(a[i], b[i], mode);               \
    }
#define THREE(op, name, t, mode, type)                                                         \
    void rt_##op##_##name##_##t(type *dst, const type *a, const type *b, const type *c) {      \
        for (int i = 0; i < WARP; i++) dst[i] = vg_##op##_##t(a[i], b[i], c[i], mode);         \
    }
#define FROM(name, t, from, mode, type, integer)                                               \
    void rt_cvt_##name##_##t##_##from(type *dst, const integer *a) {                           \
        for (int i = 0; i < WARP; i++) dst[i] = vg_##from##_to_##t(a[i], mode);                \
    }
#define DIRECTED(name, mode, t, type)                                                          \
    TWO(add, name, t, mode, type)                                                              \
    TWO(mul, name, t, mode, type)                                                              \
    THREE(fma, name, t, mode, type)                                                            \
    TWO(div, name, t, mode, type)                                                              \
    ONE(sqrt, name, t, mode, type)                                                             \
    FROM(name, t, s64, mode, type, int64_t)                                                    \
    FROM(name, t, u64, mode, type, uint64_t)

DIRECTED(rz, TOWARD_ZERO, f32, float)
DIRECTED(rm, TOWARD_MINUS_INFINITY, f32, float)
DIRECTED(rp, TOWARD_PLUS_INFINITY, f32, float)
DIRECTED(rz, TOWARD_ZERO, f64, double)
DIRECTED(rm, TOWARD_MINUS_INFINITY, f64, double)
DIRECTED(rp, TOWARD_PLUS_INFINITY, f64, double)

/* A 64-bit integer as a float rounded to odd, from which a shorter format rounds once. */
static float integer_to_odd(uint64_t magnitude, int negative) {
    uint32_t bits = (uint32_t)integer_to(F32, magnitude, negative, TOWARD_ZERO);
    double kept = float_of_bits(bits & 0x7fffffff);
    int exact = magnitude == 0 || (kept < 0x1p64 && (uint64_t)kept == magnitude);
    return float_of_bits(exact ? bits : bits | 1);
}
void rt_cvt_odd_f32_s64(float *dst, const int64_t *a) {
    for (int i = 0; i < WARP; i++) dst[i] = integer_to_odd(size_of(a[i]), a[i] < 0);
}
void rt_cvt_odd_f32_u64(float *dst, const uint64_t *a) {
    for (int i = 0; i < WARP; i++) dst[i] = integer_to_odd(a[i], 0);
}
