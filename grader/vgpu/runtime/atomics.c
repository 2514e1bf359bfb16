/* Atomic operations, lane after lane. */

float vg_f16_to_f32(u16);
float vg_bf16_to_f32(u16);
u16 vg_f32_to_f16_rn(float);
u16 vg_f32_to_bf16_rn(float);

static inline float as_float(u32 x) { float f; memcpy(&f, &x, 4); return f; }
static inline u32 float_bits(float f) { u32 x; memcpy(&x, &f, 4); return f != f ? POISON : x; }
static inline double as_double(u64 x) { double f; memcpy(&f, &x, 8); return f; }
static inline u64 double_bits(double f) {
  u64 x;
  memcpy(&x, &f, 8);
  return f != f ? 0x7ff8000000000000ull : x;
}

static float half_op(u32 op, float a, float b) {
  if (op == 0) return a + b;
  if (a != a) return b;
  if (b != b) return a;
  return op == 1 ? (a < b ? a : b) : (a > b ? a : b);
}

static u16 half_atomic(u32 op, u16 old, u16 b, int bf) {
  if (op == 6) return b;
  float x = bf ? vg_bf16_to_f32(old) : vg_f16_to_f32(old);
  float y = bf ? vg_bf16_to_f32(b) : vg_f16_to_f32(b);
  float r = half_op(op, x, y);
  return bf ? vg_f32_to_bf16_rn(r) : vg_f32_to_f16_rn(r);
}

/* A float's subnormals become zero in an addition to global memory (PTX ISA 9.7.13.7, atom). */
static inline float flushed(float f, int flush) {
  return flush && __builtin_fabsf(f) < 0x1p-126f ? __builtin_copysignf(0.0f, f) : f;
}

static u64 atomic_result(u32 op, u32 type, int global, u64 old, u64 b, u64 c) {
  if (op == 7) return old == b ? c : old;
  if (op == 6) return b;
  if (op == 3) return old & b;
  if (op == 4) return old | b;
  if (op == 5) return old ^ b;
  switch (type) {
  case 0:
    if (op == 0) return (u32)(old + b);
    if (op == 1) return (u32)old < (u32)b ? old : b;
    if (op == 2) return (u32)old > (u32)b ? old : b;
    if (op == 8) return (u32)old >= (u32)b ? 0 : old + 1;
    return old == 0 || (u32)old > (u32)b ? b : old - 1;
  case 1:
    if (op == 0) return (u32)(old + b);
    return op == 1 ? ((i32)old < (i32)b ? old : b) : ((i32)old > (i32)b ? old : b);
  case 2:
    if (op == 0) return old + b;
    return op == 1 ? (old < b ? old : b) : (old > b ? old : b);
  case 3:
    if (op == 0) return old + b;
    return op == 1 ? ((i64)old < (i64)b ? old : b) : ((i64)old > (i64)b ? old : b);
  case 4: {
    float x = as_float((u32)old), y = as_float((u32)b);
    if (op == 0) return float_bits(flushed(flushed(x, global) + flushed(y, global), global));
    return float_bits(half_op(op, x, y));
  }
  case 5: {
    double x = as_double(old), y = as_double(b);
    if (op == 0) return double_bits(x + y);
    return double_bits(op == 1 ? (x < y ? x : y) : (x > y ? x : y));
  }
  case 6: return half_atomic(op, (u16)old, (u16)b, 0);
  case 7: return half_atomic(op, (u16)old, (u16)b, 1);
  default: {
    int bf = type == 9;
    u32 low = half_atomic(op, (u16)old, (u16)b, bf);
    u32 high = half_atomic(op, (u16)(old >> 16), (u16)(b >> 16), bf);
    return low | high << 16;
  }
  }
}

void rt_atom(Warp *w, u32 mask, u32 site) {
  if (!mask) return;
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  Stat *stat = &L->stats[site];
  u32 elem = S->elem_bytes, op = S->vector & 15, type = S->vector >> 4 & 15;
  u32 vec = S->vector >> 12, size = elem * vec;
  u64 add = window(S->space, 0);
  u8 *b = (u8 *)w->scratch, *c = (u8 *)w->scratch + 512, *out = (u8 *)w->scratch + 1024;
  u32 operand_shadow = L->checks ? w->scratch[SHADOW_ROW][0] : 0, result_shadow = 0;
  u32 lying[SPACES] = {0};
  if (operand_shadow & mask) rt_uninitialised(w, operand_shadow & mask, site);
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add, old = 0, vb = 0, vc = 0;
    enum Trouble t = resolve_in(w, S->space, a, size, l, 1, &P);
    lying[P.space == CONST ? GLOBAL : P.space] |= 1u << l;
    if (t) {
      trouble(w, t, mask, site, l, ATOMIC, &P, a, size);
      old = ((u64)POISON << 32) | POISON;
      for (u32 e = 0; e < vec; e++) memcpy(out + (e * LANES + l) * elem, &old, elem);
      continue;
    }
    if (L->checks && shadow_atomic(w, l, site, &P, a, size)) result_shadow |= 1u << l;
    if (P.space == GLOBAL) {
      u32 n = ++L->met[(a >> 2) * 0x9e3779b97f4a7c15ull >> (64 - MET_BITS)];
      if (n > L->most_met) L->most_met = n;
    }
    for (u32 e = 0; e < vec; e++) {
      u32 row = (e * LANES + l) * elem;
      u8 *p = P.local ? 0 : P.p + e * elem;
      memcpy(&vb, b + row, elem);
      if (op == 7) memcpy(&vc, c + row, elem);
      if (P.local) {
        for (u32 k = 0; k < elem; k++)
          ((u8 *)&old)[k] = *local_byte(w, P.offset + e * elem + k, l);
      } else {
        memcpy(&old, p, elem);
      }
      u64 new = atomic_result(op, type, P.space == GLOBAL, old, vb, vc);
      if (P.local) {
        for (u32 k = 0; k < elem; k++)
          *local_byte(w, P.offset + e * elem + k, l) = ((u8 *)&new)[k];
      } else {
        memcpy(p, &new, elem);
      }
      memcpy(out + row, &old, elem);
    }
    if (P.written) memset(P.written, 1, size);
  }
  if (L->checks) w->scratch[SHADOW_ROW][0] = result_shadow;
  u64 seen[LANES];
  u8 times[LANES];
  u32 n = 0, most = 0;
  LANE_LOOP(mask, l) {
    u32 j = n;
    while (j && seen[j - 1] != w->addr[l]) j--;
    if (!j) seen[n] = w->addr[l], times[n] = 0, j = ++n;
    if (++times[j - 1] > most) most = times[j - 1];
  }
  stat->serial += most;
  stat->distinct += n;
  count_spaces(w, stat, lying, mask, add, size, S->flags | BYPASS_L1, 1, 0, n == 1);
}
