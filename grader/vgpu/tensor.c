/* Warp-wide matrix instructions: mma.sync, wmma.mma, ldmatrix, stmatrix, movmatrix.
 *
 * Registers come as arrays [register][lane]. Fragments are laid out as in the PTX ISA, "Matrix
 * Fragments for mma": with group = lane / 4 and place = lane % 4, and E elements in a register,
 *
 *   A (m x k)  register r, element e:  row = group + 8 (r % (m/8))       column = E place + e + 4E (r / (m/8))
 *   B (k x n)  register r, element e:  row = E place + e + 4E (r % kb)   column = group + 8 (r / kb)
 *   C, D       pair p, element e:      row = group + 8 (p % (m/8))       column = 2 place + e + 8 (p / (m/8))
 *
 * where kb = k / 4E, and a pair is two registers, or one register of two f16. The ISA leaves the
 * layout of wmma fragments open; here it is this one, continued over the larger shapes, and f16
 * A and B fragments (always 8 registers) repeat it.
 *
 * Numerics: products are exact; they are added to C in double, in ascending k, and the sum is
 * rounded once to nearest (f32, f16). Hardware adds in groups and truncates, so it is less exact,
 * differently in each generation. tf32 operands lose their low 13 bits. f64 is a chain of fma.
 * Integer sums are exact, then wrap, or clamp under .satfinite.
 */
#include "device_math.h"

enum { F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1_XOR, B1_AND, S32, E4M3, E5M2 };

uint16_t vg_e4m3_to_f16(uint8_t v);
uint16_t vg_e5m2_to_f16(uint8_t v);

/* A half of a 32-bit register. */
typedef uint16_t __attribute__((may_alias)) half_t;

#define MAX_OPERAND (16 * 256) /* elements of A in the largest shape, m16n8k256 */
#define MAX_RESULT 256

static int bits_of(int type) {
    switch (type) {
    case F64: return 64;
    case F32: case TF32: case S32: return 32;
    case F16: case BF16: return 16;
    case S8: case U8: case E4M3: case E5M2: return 8;
    case S4: case U4: return 4;
    default: return 1;
    }
}
static int per_register(int type) { return type == F64 ? 1 : 32 / bits_of(type); }

/* `count` elements of the registers as doubles, in the order they lie in. */
static void widen(int type, const void *registers, int count, double *out) {
    const half_t *halves = registers;
    const uint8_t *bytes = registers;
    const uint32_t *words = registers;
    switch (type) {
    case F16:
        for (int i = 0; i < count; i++) out[i] = f16_to_float(halves[i]);
        break;
    case BF16:
        for (int i = 0; i < count; i++) out[i] = float_of_bits((uint32_t)halves[i] << 16);
        break;
    case TF32:
        for (int i = 0; i < count; i++) out[i] = float_of_bits(words[i] & ~0x1fffu);
        break;
    case F32:
        for (int i = 0; i < count; i++) out[i] = float_of_bits(words[i]);
        break;
    case F64:
        for (int i = 0; i < count; i++) out[i] = ((const double *)registers)[i];
        break;
    case E4M3:
        for (int i = 0; i < count; i++) out[i] = f16_to_float(vg_e4m3_to_f16(bytes[i]));
        break;
    default:
        for (int i = 0; i < count; i++) out[i] = f16_to_float(vg_e5m2_to_f16(bytes[i]));
    }
}
/* The same as integers. */
static void widen_integers(int type, const void *registers, int count, int32_t *out) {
    const uint8_t *bytes = registers;
    int per_byte = type == S8 || type == U8 ? 1 : type == S4 || type == U4 ? 2 : 8, bits = 8 / per_byte;
    int is_signed = type == S8 || type == S4;
    for (int i = 0; i < count; i++) {
        uint32_t element = (uint32_t)bytes[i / per_byte] >> (i % per_byte * bits);
        out[i] = is_signed ? (int32_t)(element << (32 - bits)) >> (32 - bits)
                           : (int32_t)(element & ((1u << bits) - 1));
    }
}

/* A double to the nearest f16: first to a float rounded to odd, which leaves the decision open. */
static inline uint16_t nearest_f16(double x) {
    float near = (float)x;
    uint32_t bits = bits_of_float(near);
    int farther = (double)near > x ? bits >> 31 == 0 : bits >> 31 != 0; /* from zero than x */
    uint32_t odd = (bits - (uint32_t)farther) | 1;
    return vg_f32_to_f16_rn(float_of_bits((double)near == x || x != x ? bits : odd));
}

/* Calls BODY with `index` into the registers, element `e`, and the element's `row` and `column`. */
#define FOR_A(m, k, type, BODY)                                                                \
    for (int r = 0, many = per_register(type); r < (m) * (k) / 32 / many; r++) {               \
        int top = 8 * (r % ((m) / 8)), left_edge = 4 * many * (r / ((m) / 8));                 \
        for (int lane = 0; lane < WARP; lane++)                                                \
            for (int e = 0; e < many; e++) {                                                   \
                int index = r * WARP + lane, row = lane / 4 + top;                             \
                int column = many * (lane % 4) + e + left_edge;                                \
                BODY                                                                           \
            }                                                                                  \
    }
#define FOR_B(k, n, type, BODY)                                                                \
    for (int r = 0, many = per_register(type); r < (k) * (n) / 32 / many; r++) {               \
        int blocks = (k) / 4 / many, top = 4 * many * (r % blocks), left_edge = 8 * (r / blocks); \
        for (int lane = 0; lane < WARP; lane++)                                                \
            for (int e = 0; e < many; e++) {                                                   \
                int index = r * WARP + lane, row = many * (lane % 4) + e + top;                \
                int column = lane / 4 + left_edge;                                             \
                BODY                                                                           \
            }                                                                                  \
    }
#define FOR_C(m, n, type, BODY)                                                                \
    for (int p = 0, packed = (type) == F16; p < (m) * (n) / 64; p++) {                         \
        int top = 8 * (p % ((m) / 8)), left_edge = 8 * (p / ((m) / 8));                        \
        for (int lane = 0; lane < WARP; lane++)                                                \
            for (int half = 0; half < 2; half++) {                                             \
                int e = packed ? half : 0;                                                     \
                int index = (packed ? p : 2 * p + half) * WARP + lane;                         \
                int row = lane / 4 + top, column = 2 * (lane % 4) + half + left_edge;          \
                BODY                                                                           \
            }                                                                                  \
    }

static void mma_float(int m, int n, int k, int a_type, int b_type, int c_type, int d_type, void *d,
                      const void *a, const void *b, const void *c) {
    double wide[512], left[512], right[512], sum[MAX_RESULT];
    widen(a_type, a, m * k, wide);
    FOR_A(m, k, a_type, left[row * k + column] = wide[index * many + e];)
    widen(b_type, b, k * n, wide);
    FOR_B(k, n, b_type, right[row * n + column] = wide[index * many + e];)
    widen(c_type, c, m * n, wide);
    FOR_C(m, n, c_type, sum[row * n + column] = wide[packed ? 2 * index + e : index];)
    for (int i = 0; i < m; i++)
        for (int block = 0; block < n; block += 8) {
            double row[8];
            for (int j = 0; j < 8; j++) row[j] = sum[i * n + block + j];
            for (int l = 0; l < k; l++) {
                double x = left[i * k + l];
                const double *y = right + l * n + block;
                if (a_type == F64)
                    for (int j = 0; j < 8; j++) row[j] = __builtin_fma(x, y[j], row[j]);
                else
                    for (int j = 0; j < 8; j++) row[j] += x * y[j];
            }
            for (int j = 0; j < 8; j++) sum[i * n + block + j] = row[j];
        }
    FOR_C(m, n, d_type, {
        double x = sum[row * n + column];
        if (d_type == F64)
            ((double *)d)[index] = canonical_f64(x);
        else if (d_type == F32)
            ((uint32_t *)d)[index] = bits_of_float(canonical((float)x));
        else
            ((half_t *)d)[2 * index + e] = nearest_f16(x);
    })
}

static void mma_integer(int m, int n, int k, int a_type, int b_type, int satfinite, uint32_t *d,
                        const void *a, const void *b, const uint32_t *c) {
    int32_t wide[MAX_OPERAND], left[MAX_OPERAND], right[MAX_OPERAND], sum[MAX_RESULT];
    widen_integers(a_type, a, m * k, wide);
    FOR_A(m, k, a_type, left[row * k + column] = wide[index * many + e];)
    widen_integers(b_type, b, k * n, wide);
    FOR_B(k, n, b_type, right[row * n + column] = wide[index * many + e];)
    for (int i = 0; i < m; i++)
        for (int block = 0; block < n; block += 8) {
            int32_t row[8] = {0}; /* at most 32 * 255 * 255, or 256: fits */
            for (int l = 0; l < k; l++) {
                int32_t x = left[i * k + l];
                const int32_t *y = right + l * n + block;
                if (a_type == B1_XOR)
                    for (int j = 0; j < 8; j++) row[j] += x ^ y[j];
                else /* the product of two bits is their and */
                    for (int j = 0; j < 8; j++) row[j] += x * y[j];
            }
            for (int j = 0; j < 8; j++) sum[i * n + block + j] = row[j];
        }
    FOR_C(m, n, S32, {
        (void)e;
        int64_t total = (int64_t)(int32_t)c[index] + sum[row * n + column];
        if (satfinite) {
            total = total < -0x80000000ll ? -0x80000000ll : total;
            total = total > 0x7fffffff ? 0x7fffffff : total;
        }
        d[index] = (uint32_t)total;
    })
}

/* D = A B + C for one warp: mma.sync (row.col) and wmma.mma of shape m x n x k. Types are the enum
 * above; d may be c. f64 registers have 64 bits, all others 32. */
void vg_mma(int m, int n, int k, int a_type, int b_type, int c_type, int d_type, int satfinite, void *d,
            const void *a, const void *b, const void *c) {
    if (d_type == S32)
        mma_integer(m, n, k, a_type, b_type, satfinite, d, a, b, c);
    else
        mma_float(m, n, k, a_type, b_type, c_type, d_type, d, a, b, c);
}

/* mma.sync.m8n8k4 of f16: four independent 8x8x4 products, one for each quad pair (lanes 4q..4q+3
 * and 16+4q..16+4q+3). C and D are f16 (4 registers) or f32 (8 registers). */
void vg_mma_m8n8k4_f16(int a_is_row, int b_is_row, int c_type, int d_type, uint32_t *d, const uint32_t *a,
                       const uint32_t *b, const uint32_t *c) {
    double left[4][8][4], right[4][4][8], sum[4][8][8];
    const half_t *a_halves = (const half_t *)a, *b_halves = (const half_t *)b;
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < 4; i++) {
            int pair = lane / 4 % 4, place = lane % 4, upper = lane < 16 ? 0 : 4;
            int index = (i / 2 * WARP + lane) * 2 + i % 2;
            double x = f16_to_float(a_halves[index]), y = f16_to_float(b_halves[index]);
            left[pair][(a_is_row ? place : i) + upper][a_is_row ? i : place] = x;
            right[pair][b_is_row ? place : i][(b_is_row ? i : place) + upper] = y;
        }
    for (int step = 0; step < 2; step++) { /* first C into the sums, then the sums into D */
        int type = step ? d_type : c_type;
        for (int lane = 0; lane < WARP; lane++)
            for (int i = 0; i < 8; i++) {
                int upper = lane < 16 ? 0 : 4;
                int row = (type == F16 ? lane % 4 : (lane & 1) + (i & 2)) + upper;
                int column = type == F16 ? i : (i & 4) + (lane & 2) + (i & 1);
                double *x = &sum[lane / 4 % 4][row][column];
                int index = type == F16 ? (i / 2 * WARP + lane) : i * WARP + lane;
                if (!step)
                    *x = type == F16 ? f16_to_float(((const half_t *)c)[2 * index + i % 2])
                                     : float_of_bits(c[index]);
                else if (type == F16)
                    ((half_t *)d)[2 * index + i % 2] = nearest_f16(*x);
                else
                    d[index] = bits_of_float(canonical((float)*x));
            }
        for (int pair = 0; pair < 4 && !step; pair++)
            for (int i = 0; i < 8; i++)
                for (int l = 0; l < 4; l++)
                    for (int j = 0; j < 8; j++) sum[pair][i][j] += left[pair][i][l] * right[pair][l][j];
    }
}

/* ---- One function for each instruction, named after it: mma.sync and wmma.mma of
 * m16n8k16.f32.f16.f16.f32 is vg_mma_m16n8k16_f32_f16_f16_f32(d, a, b, c) ------------------------- */

#define NAMED(rows, columns, depth, d, a, b, c, suffix, a_code, b_code, c_code, d_code, clamp)  \
    void vg_mma_m##rows##n##columns##k##depth##_##d##_##a##_##b##_##c##suffix(                 \
        void *to, const void *x, const void *y, const void *z) {                               \
        vg_mma(rows, columns, depth, a_code, b_code, c_code, d_code, clamp, to, x, y, z);      \
    }
#define REAL(m, n, k, d, ab, c, d_code, code, c_code)                                          \
    NAMED(m, n, k, d, ab, ab, c, , code, code, c_code, d_code, 0)
#define HALVES(m, n, k)                                                                        \
    REAL(m, n, k, f16, f16, f16, F16, F16, F16)                                                \
    REAL(m, n, k, f16, f16, f32, F16, F16, F32)                                                \
    REAL(m, n, k, f32, f16, f16, F32, F16, F16)                                                \
    REAL(m, n, k, f32, f16, f32, F32, F16, F32)
#define INTEGER(m, n, k, a, b, a_code, b_code)                                                 \
    NAMED(m, n, k, s32, a, b, s32, , a_code, b_code, S32, S32, 0)                              \
    NAMED(m, n, k, s32, a, b, s32, _satfinite, a_code, b_code, S32, S32, 1)
#define BYTES(m, n, k)                                                                         \
    INTEGER(m, n, k, s8, s8, S8, S8)                                                           \
    INTEGER(m, n, k, s8, u8, S8, U8)                                                           \
    INTEGER(m, n, k, u8, s8, U8, S8)                                                           \
    INTEGER(m, n, k, u8, u8, U8, U8)
#define NIBBLES(m, n, k)                                                                       \
    INTEGER(m, n, k, s4, s4, S4, S4)                                                           \
    INTEGER(m, n, k, s4, u4, S4, U4)                                                           \
    INTEGER(m, n, k, u4, s4, U4, S4)                                                           \
    INTEGER(m, n, k, u4, u4, U4, U4)
#define BITS(m, n, k)                                                                          \
    NAMED(m, n, k, s32, b1, b1, s32, _xor, B1_XOR, B1_XOR, S32, S32, 0)                        \
    NAMED(m, n, k, s32, b1, b1, s32, _and, B1_AND, B1_AND, S32, S32, 0)
#define EIGHTS(m, n, k, a, b, a_code, b_code)                                                  \
    NAMED(m, n, k, f32, a, b, f32, , a_code, b_code, F32, F32, 0)                              \
    NAMED(m, n, k, f16, a, b, f16, , a_code, b_code, F16, F16, 0)
#define FP8(m, n, k)                                                                           \
    EIGHTS(m, n, k, e4m3, e4m3, E4M3, E4M3)                                                    \
    EIGHTS(m, n, k, e4m3, e5m2, E4M3, E5M2)                                                    \
    EIGHTS(m, n, k, e5m2, e4m3, E5M2, E4M3)                                                    \
    EIGHTS(m, n, k, e5m2, e5m2, E5M2, E5M2)

HALVES(16, 8, 8) HALVES(16, 8, 16) HALVES(16, 16, 16) HALVES(32, 8, 16) HALVES(8, 32, 16)
REAL(16, 8, 8, f32, bf16, f32, F32, BF16, F32)
REAL(16, 8, 16, f32, bf16, f32, F32, BF16, F32)
REAL(16, 16, 16, f32, bf16, f32, F32, BF16, F32)
REAL(32, 8, 16, f32, bf16, f32, F32, BF16, F32)
REAL(8, 32, 16, f32, bf16, f32, F32, BF16, F32)
REAL(16, 8, 4, f32, tf32, f32, F32, TF32, F32)
REAL(16, 8, 8, f32, tf32, f32, F32, TF32, F32)
REAL(16, 16, 8, f32, tf32, f32, F32, TF32, F32)
REAL(8, 8, 4, f64, f64, f64, F64, F64, F64)
REAL(16, 8, 4, f64, f64, f64, F64, F64, F64)
REAL(16, 8, 8, f64, f64, f64, F64, F64, F64)
REAL(16, 8, 16, f64, f64, f64, F64, F64, F64)
BYTES(8, 8, 16) BYTES(16, 8, 16) BYTES(16, 8, 32) BYTES(16, 16, 16) BYTES(32, 8, 16) BYTES(8, 32, 16)
NIBBLES(8, 8, 32) NIBBLES(16, 8, 32) NIBBLES(16, 8, 64)
BITS(8, 8, 128) BITS(16, 8, 128) BITS(16, 8, 256)
FP8(16, 8, 16) FP8(16, 8, 32)

#define QUADS(d, c, d_code, c_code, a, b, a_row, b_row)                                        \
    void vg_mma_m8n8k4_##a##_##b##_##d##_f16_f16_##c(uint32_t *to, const uint32_t *x,          \
                                                     const uint32_t *y, const uint32_t *z) {   \
        vg_mma_m8n8k4_f16(a_row, b_row, c_code, d_code, to, x, y, z);                          \
    }
#define QUAD_LAYOUTS(d, c, d_code, c_code)                                                     \
    QUADS(d, c, d_code, c_code, row, row, 1, 1)                                                \
    QUADS(d, c, d_code, c_code, row, col, 1, 0)                                                \
    QUADS(d, c, d_code, c_code, col, row, 0, 1)                                                \
    QUADS(d, c, d_code, c_code, col, col, 0, 0)
QUAD_LAYOUTS(f16, f16, F16, F16)
QUAD_LAYOUTS(f32, f16, F32, F16)
QUAD_LAYOUTS(f32, f32, F32, F32)

/* ---- Rows of eight 16-bit elements ---------------------------------------------------------------- */

/* ldmatrix .m8n8 .b16: `rows[w][lane]` is 32-bit word w of the 16-byte row that `lane` addressed
 * (lane 8 j + i: row i of matrix j); d has one register for each of `count` (1, 2, 4) matrices. */
void vg_ldmatrix(uint32_t *d, const uint32_t *rows, int count, int transposed) {
    for (int j = 0; j < count; j++)
        for (int lane = 0; lane < WARP; lane++) {
            int group = lane / 4, place = lane % 4;
            uint32_t word = rows[place * WARP + 8 * j + group];
            if (transposed) {
                const uint32_t *column = rows + group / 2 * WARP + 8 * j;
                uint32_t low = column[2 * place] >> 16 * (group % 2) & 0xffff;
                word = low | column[2 * place + 1] >> 16 * (group % 2) << 16;
            }
            d[j * WARP + lane] = word;
        }
}

/* stmatrix .m8n8 .b16, the inverse: fills `rows` for the lanes that address rows (8 * count). */
void vg_stmatrix(uint32_t *rows, const uint32_t *s, int count, int transposed) {
    const half_t *halves = (const half_t *)s;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < 8; i++)
            for (int column = 0; column < 8; column++) {
                int group = transposed ? column : i, across = transposed ? i : column;
                int source = (j * WARP + 4 * group + across / 2) * 2 + across % 2;
                ((half_t *)rows)[(column / 2 * WARP + 8 * j + i) * 2 + column % 2] = halves[source];
            }
}

/* movmatrix.sync.aligned.m8n8.trans.b16 */
void vg_movmatrix(uint32_t *d, const uint32_t *s) {
    uint32_t rows[4 * WARP];
    vg_stmatrix(rows, s, 1, 0);
    vg_ldmatrix(d, rows, 1, 1);
}
