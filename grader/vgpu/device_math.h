/* Device arithmetic of the virtual GPU: what PTX computes and a host CPU does not have.
 *
 * Freestanding C99 for clang, built with -ffreestanding -fno-math-errno -ffp-contract=off.
 * Everything is either integer arithmetic or the correctly rounded IEEE operations + - * / sqrt
 * on float and double, so results are the same to the bit on every CPU.  Functions of one value
 * come twice: for one lane, and `_v32` for a warp's 32 lanes (destination may be the source).
 *
 * math.c      elementary functions       rounding.c  arithmetic in every rounding mode, exact fma
 * formats.c   f16 bf16 e4m3 e5m2         tensor.c    mma, wmma, ldmatrix, stmatrix
 */
#ifndef GRADER_DEVICE_MATH_H
#define GRADER_DEVICE_MATH_H

/* The compiler's own types: no header is needed, so none has to be found. */
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef unsigned __int128 u128;

#define WARP 32

/* The one NaN each format ever holds (PTX ISA: "canonical NaN"). */
#define NAN_F16 0x7fffu
#define NAN_F32 0x7fffffffu
#define NAN_F64 0x7ff8000000000000ull

/* Rounding modes of PTX: .rn .rz .rm .rp. */
enum { NEAREST_EVEN = 0, TOWARD_ZERO = 1, TOWARD_MINUS_INFINITY = 2, TOWARD_PLUS_INFINITY = 3 };

static inline uint32_t bits_of_float(float x) { union { float f; uint32_t u; } v = {x}; return v.u; }
static inline float float_of_bits(uint32_t x) { union { uint32_t u; float f; } v = {x}; return v.f; }
static inline uint64_t bits_of_double(double x) { union { double f; uint64_t u; } v = {x}; return v.u; }
static inline double double_of_bits(uint64_t x) { union { uint64_t u; double f; } v = {x}; return v.f; }

/* On the bits: to LLVM all NaNs are alike, and a choice between one and another may vanish. */
static inline float canonical(float x) {
    uint32_t bits = bits_of_float(x);
    return float_of_bits((bits & 0x7fffffff) > 0x7f800000 ? NAN_F32 : bits);
}
static inline double canonical_f64(double x) {
    uint64_t bits = bits_of_double(x);
    return double_of_bits(bits << 1 > 0xffe0000000000000ull ? NAN_F64 : bits);
}

static inline float f16_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, size = h & 0x7fff;
    float subnormal = (float)(int32_t)size * 0x1p-24f;
    uint32_t bits = size < 0x0400 ? bits_of_float(subnormal) : (size << 13) + (112u << 23);
    bits = size >= 0x7c00 ? 0x7f800000 : bits;
    return float_of_bits(size > 0x7c00 ? NAN_F32 : sign | bits);
}

/* Exact conversions to float, and correctly rounded ones from it (formats.c). */
float vg_f16_to_f32(uint16_t h);
float vg_bf16_to_f32(uint16_t h);
uint16_t vg_f32_to_f16_rn(float x);
uint16_t vg_f32_to_bf16_rn(float x);

/* a * b + c rounded once (rounding.c). */
float vg_fma_f32(float a, float b, float c, int mode);
double vg_fma_f64(double a, double b, double c, int mode);
/* A double rounded once to the bits of an f16 (rounding.c). */
uint16_t vg_f64_to_f16(double x, int mode);

#endif
