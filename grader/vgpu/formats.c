/* Narrow number formats: f16, bf16, e4m3, e5m2 and their conversions to and from f32.
 *
 * NaNs come out canonical.
 */
#include "device_math.h"

float vg_f16_to_f32(uint16_t h) { return f16_to_float(h); }

float vg_bf16_to_f32(uint16_t h) { return float_of_bits((h & 0x7fff) > 0x7f80 ? NAN_F32 : (uint32_t)h << 16); }

uint16_t vg_f32_to_f16_rn(float x) {
    uint32_t bits = bits_of_float(x), size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    /* Adding 1/2 leaves multiples of 2^-24, the subnormal unit, in the last bits of the sum. */
    uint32_t subnormal = bits_of_float(float_of_bits(size) + 0.5f) - 0x3f000000;
    uint32_t normal = (size - (112u << 23) + 0x0fff + (size >> 13 & 1)) >> 13;
    uint32_t half = size < 0x38800000 ? subnormal : normal;
    half = size >= 0x47800000 ? 0x7c00 : half;
    return (uint16_t)(size > 0x7f800000 ? NAN_F16 : sign | half);
}

uint16_t vg_f32_to_bf16_rn(float x) {
    uint32_t bits = bits_of_float(x);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? NAN_F16 : rounded);
}

/* cvt.rn.satfinite.e4m3x2.f32 and e5m2x2, one element. e4m3 has no infinity (0x7f is NaN, 448 the
 * largest), e5m2 is f16 without its lower 8 bits (57344 the largest); what is larger saturates. */
static uint8_t to_fp8(float x, int mantissa_bits, int bias, uint32_t largest) {
    uint32_t bits = bits_of_float(x), size = bits & 0x7fffffff, sign = bits >> 24 & 0x80;
    if (size > 0x7f800000) return (uint8_t)0x7f;
    int drop = 23 - mantissa_bits, subnormal = (int)(size >> 23) < 128 - bias;
    /* A constant whose unit in the last place is the format's subnormal unit rounds to it. */
    float rounder = float_of_bits((uint32_t)(127 + 24 - bias - mantissa_bits) << 23);
    uint32_t small = bits_of_float(float_of_bits(size) + rounder) - bits_of_float(rounder);
    uint32_t normal = (size - ((uint32_t)(127 - bias) << 23) + (1u << (drop - 1)) - 1 + (size >> drop & 1)) >> drop;
    uint32_t code = subnormal ? small : normal;
    return (uint8_t)(sign | (code > largest ? largest : code));
}
uint8_t vg_f32_to_e4m3(float x) { return to_fp8(x, 3, 7, 0x7e); }
uint8_t vg_f32_to_e5m2(float x) { return to_fp8(x, 2, 15, 0x7b); }

/* cvt.rn.f16x2.e4m3x2 and e5m2x2, one element; exact. */
uint16_t vg_e4m3_to_f16(uint8_t v) {
    uint32_t sign = (uint32_t)(v & 0x80) << 8, size = v & 0x7f;
    float value = size < 8 ? (float)(int32_t)size * 0x1p-9f : float_of_bits((size << 20) + (120u << 23));
    return (uint16_t)(size == 0x7f ? NAN_F16 : sign | vg_f32_to_f16_rn(value));
}
uint16_t vg_e5m2_to_f16(uint8_t v) { return (uint16_t)((v & 0x7f) > 0x7c ? NAN_F16 : (uint32_t)v << 8); }

/* Pairs over a warp: two floats, the upper one first, to two bytes; two bytes to an f16x2. */
#define PAIRS(form)                                                                            \
    void vg_f32_to_##form##x2_v32(uint16_t *dst, const float *high, const float *low) {        \
        for (int i = 0; i < WARP; i++)                                                         \
            dst[i] = (uint16_t)(vg_f32_to_##form(high[i]) << 8 | vg_f32_to_##form(low[i]));    \
    }                                                                                          \
    void vg_##form##x2_to_f16x2_v32(uint32_t *dst, const uint16_t *src) {                      \
        for (int i = 0; i < WARP; i++)                                                         \
            dst[i] = (uint32_t)vg_##form##_to_f16((uint8_t)(src[i] >> 8)) << 16 |              \
                     vg_##form##_to_f16((uint8_t)src[i]);                                      \
    }
PAIRS(e4m3)
PAIRS(e5m2)
