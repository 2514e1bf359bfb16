/* Operations between the lanes of a warp (PTX ISA 9.7.9.6, 9.7.13.9-9.7.13.12). */

u32 rt_shfl(Warp *w, u32 mask, u32 site) {
  u32 mode = w->launch->sites[site].vector, inside = 0, undefined = 0;
  u32 shadow = w->launch->checks ? w->scratch[SHADOW_ROW][0] : 0;
  u32 out[LANES];
  Origin origin[LANES];
  if (shadow) memcpy(origin, w->origin, sizeof origin);
  for (u32 l = 0; l < LANES; l++) {
    u32 b = w->scratch[1][l] & 31, c = w->scratch[2][l];
    u32 clamp = c & 31, segment = c >> 8 & 31;
    u32 most = (l & segment) | (clamp & ~segment), least = l & segment;
    u32 j, ok;
    switch (mode) {
    case 0: j = l - b, ok = (i32)j >= (i32)most; break;
    case 1: j = l + b, ok = (i32)j <= (i32)most; break;
    case 2: j = l ^ b, ok = (i32)j <= (i32)most; break;
    default: j = least | (b & ~segment), ok = (i32)j <= (i32)most; break;
    }
    if (!ok) j = l;
    j &= 31;
    out[l] = w->scratch[0][j];
    if (ok) inside |= 1u << l;
    /* A lane the mask names but that is absent is a fault of the mask already. */
    u32 named = w->scratch[63][l] & w->first_live;
    if (mask >> l & 1 && !(mask >> j & 1) && !(named >> j & 1)) {
      undefined |= 1u << l;
      w->origin[l] = (Origin){call_site(w, l, site) + 1, 0, GENERIC, j, 0};
    }
    if (shadow & mask & 1u << j) undefined |= 1u << l, w->origin[l] = origin[j];
  }
  memcpy(w->scratch[4], out, sizeof out);
  if (w->launch->checks) w->scratch[SHADOW_ROW][0] = undefined;
  w->launch->stats[site].requests++;
  return inside;
}

u32 rt_match(Warp *w, u32 mask, u32 site) {
  u32 kind = w->launch->sites[site].vector, all = 1;
  u32 first = (u32)__builtin_ctz(mask);
#define VALUE(l) (kind & 1 ? ((u64 *)w->scratch)[l] : w->scratch[0][l])
  u32 out[LANES] = {0};
  LANE_LOOP(mask, l) {
    LANE_LOOP(mask, k) if (VALUE(k) == VALUE(l)) out[l] |= 1u << k;
    if (VALUE(l) != VALUE(first)) all = 0;
  }
  for (u32 l = 0; l < LANES; l++) w->scratch[4][l] = kind & 2 ? (all ? mask : 0) : out[l];
  return all ? mask : 0;
}

/* The lesser or greater of two floats by their bits; zeros are ordered by sign, and NaNs are left
   out or, if asked for, win. */
static u32 float_extreme(u32 r, u32 x, int least, int nan_wins) {
  int r_nan = (r & 0x7fffffff) > 0x7f800000, x_nan = (x & 0x7fffffff) > 0x7f800000;
  if (r_nan || x_nan) return nan_wins || (r_nan && x_nan) ? POISON : r_nan ? x : r;
  i32 a = (i32)(r >> 31 ? r ^ 0x7fffffff : r), b = (i32)(x >> 31 ? x ^ 0x7fffffff : x);
  return (a < b) == least ? r : x;
}

static u32 redux_float(Warp *w, u32 mask, u32 kind) {
  u32 keep = kind & 64 ? 0x7fffffff : ~0u, r = 0, first = 1;
  LANE_LOOP(mask, l) {
    u32 x = w->scratch[0][l] & keep;
    r = float_extreme(first ? x : r, x, (kind & 15) == 1, kind & 128);
    first = 0;
  }
  return r;
}

u32 rt_redux(Warp *w, u32 mask, u32 site) {
  u32 kind = w->launch->sites[site].vector, op = kind & 15, is_signed = kind >> 4 & 1;
  if (kind & 32) return redux_float(w, mask, kind);
  u32 r = w->scratch[0][__builtin_ctz(mask)];
  LANE_LOOP(mask & (mask - 1), l) {
    u32 x = w->scratch[0][l];
    switch (op) {
    case 0: r += x; break;
    case 1: r = is_signed ? ((i32)x < (i32)r ? x : r) : x < r ? x : r; break;
    case 2: r = is_signed ? ((i32)x > (i32)r ? x : r) : x > r ? x : r; break;
    case 3: r &= x; break;
    case 4: r |= x; break;
    default: r ^= x; break;
    }
  }
  return r;
}

/* mbarrier object: bits 0-19 pending, 20-39 expected, 63 phase (our own encoding; opaque in PTX). */
u32 rt_mbarrier(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 op = S->vector & 15, parity = S->vector >> 4 & 1, yes = 0;
  u64 *operand = (u64 *)w->scratch, *result = (u64 *)((u8 *)w->scratch + 512);
  u64 add = window(S->space, 0);
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add, m = 0;
    enum Trouble t = resolve_in(w, SHARED, a, 8, l, 1, &P);
    if (t) {
      trouble(w, t, mask, site, l, ATOMIC, &P, a, 8);
      continue;
    }
    memcpy(&m, P.p, 8);
    u64 pending = m & 0xfffff, expected = m >> 20 & 0xfffff, phase = m >> 63;
    if (op == 0) {
      pending = expected = operand[l] & 0xfffff, phase = 0;
      for (u32 k = 0; k < 8 && w->launch->checks; k++) *init_byte(w, &P, l, k) = 1;
    } else if (op == 2 || op == 3) {
      u64 n = operand[l];
      result[l] = (phase << 63) | (pending << 32);
      if (op == 3) expected -= n;
      pending = pending > n ? pending - n : 0;
      if (w->launch->checks) published(w, a, RELEASE);
      if (!pending) pending = expected, phase ^= 1;
    } else if (op == 4 || op == 5) {
      u64 asked = parity ? operand[l] & 1 : operand[l] >> 63;
      if (asked != phase) {
        yes |= 1u << l;
        if (w->launch->checks) observed(w, a, 1);
      } else if (op == 5) {
        w->budget -= 50;
      }
    }
    m = pending | expected << 20 | phase << 63;
    memcpy(P.p, &m, 8);
  }
  return yes;
}

/* The copies so far arrive on the barrier when they are done; here they are done at once. Without
   .noinc the arrival was added to the pending count first, so nothing changes. */
void rt_cp_arrive(Warp *w, u32 mask, u32 site) {
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  u32 keep = 0;
  for (u32 k = 0; k < w->async_count; k++) {
    Async *a = &w->async[k];
    if (mask >> a->lane & 1) shadow_copy_end(w, a->lane, site, a->offset, a->size);
    else w->async[keep++] = *a;
  }
  w->async_count = keep;
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + window(S->space, 0), m;
    enum Trouble t = resolve_in(w, SHARED, a, 8, l, 1, &P);
    if (t) {
      trouble(w, t, mask, site, l, ATOMIC, &P, a, 8);
      continue;
    }
    if (L->checks) published(w, a, RELEASE);
    if (!S->vector) continue;
    memcpy(&m, P.p, 8);
    if ((m & 0xfffff) > 1) m--;
    else m = (m & ~0xfffffull) | (m >> 20 & 0xfffff), m ^= 1ull << 63;
    memcpy(P.p, &m, 8);
  }
}
