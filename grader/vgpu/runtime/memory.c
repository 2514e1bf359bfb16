/* Loads and stores of a warp. */

#define EACH_TYPE(size, X) \
  switch (size) { \
  case 1: X(u8) break; \
  case 2: X(u16) break; \
  case 4: X(u32) break; \
  default: X(u64) break; \
  }

static inline void gather(Warp *w, u32 mask, const u8 *from, const u64 *addr, u64 minus, u32 elem,
                          u32 vec) {
#define GATHER(T) { \
    T *out = (T *)w->scratch; \
    if (mask == ALL && vec == 1) { \
      for (u32 l = 0; l < LANES; l++) out[l] = *(const T *)(from + (addr[l] - minus)); \
      break; \
    } \
    LANE_LOOP(mask, l) { \
      const T *p = (const T *)(from + (addr[l] - minus)); \
      for (u32 v = 0; v < vec; v++) out[v * LANES + l] = p[v]; \
    } }
  EACH_TYPE(elem, GATHER)
}

static inline void scatter(Warp *w, u32 mask, u8 *to, const u64 *addr, u64 minus, u32 elem,
                           u32 vec) {
#define SCATTER(T) { \
    const T *in = (const T *)w->scratch; \
    LANE_LOOP(mask, l) { \
      T *p = (T *)(to + (addr[l] - minus)); \
      for (u32 v = 0; v < vec; v++) p[v] = in[v * LANES + l]; \
    } }
  EACH_TYPE(elem, SCATTER)
}

/* Neighbours of one element each: one copy, whatever lanes of the run are active. */
static inline void copy_run(Warp *w, u32 mask, const u8 *p, u32 elem) {
  u32 f = (u32)__builtin_ctz(mask), last = 31 - (u32)__builtin_clz(mask);
  memcpy((u8 *)w->scratch + f * elem, p, (last - f + 1) * elem);
}

static inline int unbroken(u32 mask) {
  u32 run = mask >> __builtin_ctz(mask);
  return !(run & (run + 1));
}

static inline void spread(Warp *w, const u8 *p, u32 elem, u32 vec) {
#define SPREAD(T) { \
    T *out = (T *)w->scratch; \
    for (u32 v = 0; v < vec; v++) { \
      T x = ((const T *)p)[v]; \
      for (u32 l = 0; l < LANES; l++) out[v * LANES + l] = x; \
    } }
  EACH_TYPE(elem, SPREAD)
}

static void poison(Warp *w, u32 lane, u32 elem, u32 vec) {
#define POISONED(T) { \
    T *out = (T *)w->scratch; \
    for (u32 v = 0; v < vec; v++) out[v * LANES + lane] = (T)(((u64)POISON << 32) | POISON); \
  }
  if (elem == 2) {
    for (u32 v = 0; v < vec; v++) ((u16 *)w->scratch)[v * LANES + lane] = 0x7fff;
    return;
  }
  EACH_TYPE(elem, POISONED)
}

static void lane_get(Warp *w, const Place *P, u32 lane, u32 elem, u32 vec) {
  if (P->local) {
    u8 *out = (u8 *)w->scratch;
    if (elem == 4 && !(P->offset & 3)) {
      for (u32 v = 0; v < vec; v++)
        w->scratch[v][lane] = *(u32 *)local_byte(w, P->offset + 4 * v, lane);
      return;
    }
    for (u32 v = 0; v < vec; v++)
      for (u32 k = 0; k < elem; k++)
        out[(v * LANES + lane) * elem + k] = *local_byte(w, P->offset + v * elem + k, lane);
    return;
  }
#define LANE_GET(T) \
  for (u32 v = 0; v < vec; v++) ((T *)w->scratch)[v * LANES + lane] = ((const T *)P->p)[v];
  EACH_TYPE(elem, LANE_GET)
}

static void lane_put(Warp *w, const Place *P, u32 lane, u32 elem, u32 vec) {
  if (P->local) {
    const u8 *in = (const u8 *)w->scratch;
    if (elem == 4 && !(P->offset & 3)) {
      for (u32 v = 0; v < vec; v++)
        *(u32 *)local_byte(w, P->offset + 4 * v, lane) = w->scratch[v][lane];
      return;
    }
    for (u32 v = 0; v < vec; v++)
      for (u32 k = 0; k < elem; k++)
        *local_byte(w, P->offset + v * elem + k, lane) = in[(v * LANES + lane) * elem + k];
    return;
  }
#define LANE_PUT(T) \
  for (u32 v = 0; v < vec; v++) ((T *)P->p)[v] = ((const T *)w->scratch)[v * LANES + lane];
  EACH_TYPE(elem, LANE_PUT)
  if (P->written) memset(P->written, 1, elem * vec);
}

/* Of a vector that leaves its array the elements that lie inside are moved all the same: else a
   store past the end would leave right elements before it unwritten. */
static void move_inside(Warp *w, u32 space, u64 a, u32 lane, u32 elem, u32 vec, int write) {
  for (u32 v = 0; v < vec && vec > 1; v++) {
    Place P;
    if (resolve_in(w, space, a + v * elem, elem, lane, write, &P) || P.local) continue;
    u8 *held = (u8 *)w->scratch + (v * LANES + lane) * elem;
    memcpy(write ? P.p : held, write ? held : P.p, elem);
    if (write && P.written) memset(P.written, 1, elem);
    if (write && P.shadow && P.shadow->init) memset(P.shadow->init + P.offset, 1, elem);
  }
}

/* The buffer all active lanes lie in, aligned and in bounds, or null. */
static inline Buffer *one_buffer(Launch *L, const u64 *addr, u32 mask, u32 size, int contiguous,
                                 int same) {
  u32 f = (u32)__builtin_ctz(mask), last = 31 - (u32)__builtin_clz(mask);
  u64 low = addr[f], high = same ? low : addr[last], any = low;
  if (!contiguous && !same) {
    low = ~0ull, high = 0, any = 0;
    for (u32 l = 0; l < LANES; l++) {
      u64 on = 0 - (u64)(mask >> l & 1);
      u64 a = addr[l];
      any |= a & on;
      u64 lo = a | ~on, hi = a & on;
      low = lo < low ? lo : low;
      high = hi > high ? hi : high;
    }
  }
  u64 slot = low >> SLOT_BITS;
  if (slot < FIRST_VARIABLE_SLOT || slot >= L->nslots) return 0;
  Buffer *b = L->slots[slot];
  if (!b || b->flags & IS_FREED || low < b->base || high - b->base > b->size ||
      b->size - (high - b->base) < size || any & (size - 1))
    return 0;
  return b;
}

static inline int in_array(const Launch *L, const u64 *addr, u32 mask, u32 size, u64 add,
                           int contiguous, u64 *minus) {
  /* All lanes inside one shared array and aligned: `*minus` turns an address into storage. */
  u64 low = ~0ull, high = 0, any = 0;
  if (contiguous) low = addr[__builtin_ctz(mask)], high = addr[31 - __builtin_clz(mask)], any = low;
  for (u32 l = 0; l < LANES && !contiguous; l++) {
    u64 on = 0 - (u64)(mask >> l & 1);
    u64 a = addr[l];
    any |= a & on;
    u64 lo = a | ~on, hi = a & on;
    low = lo < low ? lo : low;
    high = hi > high ? hi : high;
  }
  low += add, high += add;
  if (low >> SLOT_BITS != SHARED_SLOT || any & (size - 1)) return 0;
  u64 k = (low - BASE(SHARED_SLOT)) >> ARRAY_SHIFT;
  if (k >= L->nshared) return 0;
  u64 start = BASE(SHARED_SLOT) + (k << ARRAY_SHIFT) + ARRAY_START;
  if (low < start || high < start || high - start + size > L->shared_arrays[k].size) return 0;
  *minus = start - L->shared_arrays[k].storage - add;
  return 1;
}

void rt_load(Warp *w, u32 mask, u32 site) {
  if (!mask) return;
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  Stat *stat = &L->stats[site];
  u32 elem = S->elem_bytes, vec = S->vector, size = elem * vec;
  int contiguous, same;
  pattern(w->addr, mask, size, &contiguous, &same);
  u32 space = S->space;
  u64 add = window(space, 0);
  if (L->checks) {
    shadow_load(w, mask, site, add);
    return;
  }
  if (space == GENERIC || space == GLOBAL || space == CONST) {
    Buffer *b = one_buffer(L, w->addr, mask, size, contiguous, same);
    if (b) {
      u32 counted = b->flags & IS_CONST ? CONST : GLOBAL;
      u32 f = (u32)__builtin_ctz(mask);
      const u8 *p = b->host + (w->addr[f] - b->base);
      if (same) spread(w, p, elem, vec);
      else if (contiguous && vec == 1) copy_run(w, mask, p, elem);
      else gather(w, mask, b->host, w->addr, b->base, elem, vec);
      count_access(w, stat, mask, counted, 0, size, S->flags, 0, contiguous, same);
      return;
    }
  }
  u64 minus;
  if ((space == SHARED || space == GENERIC) && in_array(L, w->addr, mask, size, add, contiguous, &minus)) {
    const u8 *p = w->block->shared + (w->addr[__builtin_ctz(mask)] - minus);
    if (same) spread(w, p, elem, vec);
    else if (contiguous && vec == 1) copy_run(w, mask, p, elem);
    else gather(w, mask, w->block->shared, w->addr, minus, elem, vec);
    count_access(w, stat, mask, SHARED, add, size, S->flags, 0, contiguous, same);
    return;
  }
  u32 lying[SPACES] = {0};
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add;
    enum Trouble t = resolve_in(w, S->space, a, size, l, 0, &P);
    lying[P.space] |= 1u << l;
    if (t) {
      trouble(w, t, mask, site, l, READ, &P, a, size);
      poison(w, l, elem, vec);
      if (t == OUTSIDE) move_inside(w, S->space, a, l, elem, vec, 0);
    } else {
      lane_get(w, &P, l, elem, vec);
    }
  }
  count_spaces(w, stat, lying, mask, add, size, S->flags, 0, contiguous, same);
}

void rt_store(Warp *w, u32 mask, u32 site) {
  if (!mask) return;
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  Stat *stat = &L->stats[site];
  u32 elem = S->elem_bytes, vec = S->vector, size = elem * vec;
  int contiguous, same;
  pattern(w->addr, mask, size, &contiguous, &same);
  u32 space = S->space;
  u64 add = window(space, 0);
  if (L->checks) {
    shadow_store(w, mask, site, add);
    return;
  }
  if (space == GENERIC || space == GLOBAL) {
    Buffer *b = one_buffer(L, w->addr, mask, size, contiguous, same);
    if (b && !(b->flags & READ_ONLY)) {
      u32 f = (u32)__builtin_ctz(mask);
      u64 offset = w->addr[f] - b->base;
      if (contiguous && vec == 1 && unbroken(mask))
        memcpy(b->host + offset, (u8 *)w->scratch + f * elem, (u32)__builtin_popcount(mask) * elem);
      else scatter(w, mask, b->host, w->addr, b->base, elem, vec);
      if (b->written) {
        if (contiguous && unbroken(mask))
          memset(b->written + offset, 1, (u32)__builtin_popcount(mask) * size);
        else LANE_LOOP(mask, l) memset(b->written + (w->addr[l] - b->base), 1, size);
      }
      count_access(w, stat, mask, GLOBAL, 0, size, S->flags, 1, contiguous, same);
      return;
    }
  }
  u64 minus;
  if ((space == SHARED || space == GENERIC) && in_array(L, w->addr, mask, size, add, contiguous, &minus)) {
    u32 f = (u32)__builtin_ctz(mask);
    if (contiguous && vec == 1 && unbroken(mask))
      memcpy(w->block->shared + (w->addr[f] - minus), (u8 *)w->scratch + f * elem,
             (u32)__builtin_popcount(mask) * elem);
    else scatter(w, mask, w->block->shared, w->addr, minus, elem, vec);
    count_access(w, stat, mask, SHARED, add, size, S->flags, 1, contiguous, same);
    return;
  }
  u32 lying[SPACES] = {0};
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add;
    enum Trouble t = resolve_in(w, S->space, a, size, l, 1, &P);
    lying[P.space] |= 1u << l;
    if (t) {
      trouble(w, t, mask, site, l, WRITE, &P, a, size);
      if (t == OUTSIDE) move_inside(w, S->space, a, l, elem, vec, 1);
    } else {
      lane_put(w, &P, l, elem, vec);
    }
  }
  count_spaces(w, stat, lying, mask, add, size, S->flags, 1, contiguous, same);
}
