/* Loads and stores of a warp: every address is resolved, checked and counted. */

typedef struct {
  u8 *p;            /* host memory of the first byte; local memory is interleaved by word */
  u8 *written;      /* per byte, or null */
  Shadow *shadow;
  u64 offset;       /* inside the region of the shadow */
  u32 buffer;       /* slot, or SHARED_ID | array, LOCAL_ID | array */
  u32 space;
  u32 flags;
  u32 local;
} Place;

static int shadow_atomic(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size);
static u32 shadow_copy_source(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size);
static void shadow_copy_begin(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size, u32 bad);
static void shadow_copy_end(Warp *w, u32 lane, u32 site, u32 offset, u32 size);
static void shadow_row_read(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u8 *undefined);
static void shadow_row_write(Warp *w, u32 lane, u32 site, const Place *P, u64 a,
                             const u8 *undefined);
static void shadow_fragment(Warp *w, const u32 *fragment, u32 count);
static void fragment_shadow(Warp *w, u32 *fragment, u32 count);

#define SHARED_ID 0x40000000u
#define LOCAL_ID 0x80000000u
enum Trouble { FINE, OUTSIDE, UNALIGNED, READONLY, USED_AFTER_FREE };

static inline u64 window(u32 space, u64 a) {
  if (space == SHARED) return a + BASE(SHARED_SLOT);
  if (space == LOCAL) return a + BASE(LOCAL_SLOT);
  if (space == PARAM) return a + BASE(PARAM_SLOT);
  return a;
}

static enum Trouble resolve(Warp *w, u64 a, u32 size, u32 lane, int write, Place *P) {
  Launch *L = w->launch;
  u64 slot = a >> SLOT_BITS;
  P->written = 0, P->shadow = 0, P->flags = 0, P->local = 0;
  if (slot >= FIRST_VARIABLE_SLOT) {
    Buffer *b = slot < L->nslots ? L->slots[slot] : 0;
    P->space = GLOBAL;
    P->buffer = (u32)slot;
    if (!b) {
      P->buffer = 0;
      return OUTSIDE;
    }
    P->flags = b->flags;
    P->offset = a - b->base;
    if (b->flags & IS_CONST) P->space = CONST;
    if (P->offset >= b->size || b->size - P->offset < size) return OUTSIDE;
    if (b->flags & IS_FREED) return USED_AFTER_FREE;
    P->p = b->host + P->offset;
    P->written = b->written ? b->written + P->offset : 0;
    P->shadow = &b->shadow;
    if (a % size) return UNALIGNED;
    if (write && b->flags & READ_ONLY) return READONLY;
    return FINE;
  }
  u64 offset = a & ((1ull << SLOT_BITS) - 1);
  u64 k = offset >> ARRAY_SHIFT;
  i64 inside = (i64)(offset & ((1u << ARRAY_SHIFT) - 1)) - (i64)ARRAY_START;
  if (slot == SHARED_SLOT) {
    P->space = SHARED, P->buffer = SHARED_ID | (u32)k;
    P->offset = (u64)inside;
    if (k >= L->nshared || inside < 0 || (u64)inside + size > L->shared_arrays[k].size)
      return OUTSIDE;
    P->offset = L->shared_arrays[k].storage + (u64)inside;
    P->p = w->block->shared + P->offset;
    P->shadow = &w->block->shared_shadow;
    return a % size ? UNALIGNED : FINE;
  }
  if (slot == LOCAL_SLOT) {
    P->space = LOCAL, P->buffer = LOCAL_ID | (u32)k;
    P->offset = (u64)inside;
    if (k >= L->nlocal || inside < 0 || (u64)inside + size > L->local_arrays[k].size)
      return OUTSIDE;
    P->offset = L->local_arrays[k].storage + (u64)inside;
    P->p = w->local + (P->offset / 4 * LANES + lane) * 4 + P->offset % 4;
    P->local = 1;
    return a % size ? UNALIGNED : FINE;
  }
  if (slot == PARAM_SLOT) {
    P->space = PARAM, P->buffer = PARAM_SLOT;
    P->offset = offset;
    if (offset + size > L->params_size) return OUTSIDE;
    P->p = L->params + offset;
    return write ? READONLY : FINE;
  }
  P->space = GLOBAL, P->buffer = 0, P->offset = a;
  return OUTSIDE;
}

/* `mask`: the lanes of the access whose addresses w->addr holds, all with one offset to add. */
static void trouble(Warp *w, enum Trouble t, u32 mask, u32 site, u32 lane, u32 access,
                    const Place *P, u64 a, u32 size) {
  static const u32 kinds[] = {0, OUT_OF_BOUNDS, MISALIGNED, INPUT_MODIFIED, FREED};
  Fault *f = report(w, kinds[t], ERROR, site, lane, access, P->space, P->buffer, a, size, 1);
  if (!f || f->count != 1) return;
  f->lane_mask = mask;
  LANE_LOOP(mask, l) f->lanes[l] = w->addr[l] + (a - w->addr[lane]);
}

/* Local memory is interleaved by four-byte words, so that lanes at one offset are neighbours. */
static inline u8 *local_byte(Warp *w, u64 offset, u32 lane) {
  return w->local + (offset / 4 * LANES + lane) * 4 + offset % 4;
}

/* -- counting ---------------------------------------------------------------------------------- */

static inline void touch(Launch *L, Block *B, Stat *S, u64 line, u32 sectors, u32 flags,
                         int write) {
  /* 128-byte lines of four sectors; L1 per block and L2 are direct mapped, writes go through. */
  u64 *l1 = &B->l1_tags[line & 1023];
  u64 tag = line << 4;
  u32 missing = sectors;
  if (!write && !(flags & (BYPASS_L1 | VOLATILE))) {
    if ((*l1 & ~15ull) == (tag | 0) && *l1) {
      missing = sectors & ~(u32)(*l1 & 15);
      *l1 |= sectors;
    } else {
      *l1 = tag | sectors;
    }
    S->l1_hits += (u32)__builtin_popcount(sectors & ~missing);
  } else if (write && (*l1 & ~15ull) == tag && *l1) {
    *l1 &= ~(u64)sectors;
  }
  if (!missing) return;
  S->l2_sectors += (u32)__builtin_popcount(missing);
  u64 *l2 = &L->l2_tags[line & (L->l2_lines - 1)];
  u32 absent = missing;
  if ((*l2 & ~15ull) == tag && *l2) {
    absent = missing & ~(u32)(*l2 & 15);
    *l2 |= missing;
  } else {
    *l2 = tag | missing;
  }
  L->l2_hits += (u32)__builtin_popcount(missing & ~absent);
  if (write) L->dram_write_sectors += (u32)__builtin_popcount(absent);
  else L->dram_read_sectors += (u32)__builtin_popcount(absent);
  S->dram_sectors += (u32)__builtin_popcount(absent);
}

static inline void touch_range(Warp *w, Stat *S, u64 low, u64 high, u32 flags, int write) {
  u64 first = low >> 5, last = (high - 1) >> 5;
  S->sectors += last - first + 1;
  for (u64 line = first >> 2; line <= last >> 2; line++) {
    u32 from = line == first >> 2 ? (u32)(first & 3) : 0;
    u32 to = line == last >> 2 ? (u32)(last & 3) : 3;
    touch(w->launch, w->block, S, line, ((2u << to) - 1) & ~((1u << from) - 1), flags, write);
  }
}

static void count_scattered(Warp *w, Stat *S, u32 mask, u64 add, u32 size, u32 flags, int write) {
  u64 lines[64];
  u8 sectors[64];
  u32 n = 0, distinct = 0;
  u64 unique[LANES], highest = 0, top_line = 0;
  u32 nunique = 0;
  LANE_LOOP(mask, l) {
    u64 a = w->addr[l] + add, end = a + size - 1;
    /* Addresses mostly rise with the lane: then there is nothing to search. */
    u32 j = a > highest ? 0 : nunique;
    while (j && unique[j - 1] != a) j--;
    if (!j) unique[nunique++] = a;
    if (a > highest) highest = a;
    for (u64 line = a >> 7; line <= end >> 7; line++) {
      u32 from = line == a >> 7 ? (u32)(a >> 5 & 3) : 0;
      u32 to = line == end >> 7 ? (u32)(end >> 5 & 3) : 3;
      u32 k = line > top_line ? 0 : n;
      if (line > top_line) top_line = line;
      while (k && lines[k - 1] != line) k--;
      if (!k) {
        if (n == 64) continue;
        lines[n] = line, sectors[n] = 0, k = ++n;
      }
      sectors[k - 1] |= (u8)(((2u << to) - 1) & ~((1u << from) - 1));
    }
  }
  for (u32 k = 0; k < n; k++) {
    distinct += (u32)__builtin_popcount(sectors[k]);
    touch(w->launch, w->block, S, lines[k], sectors[k], flags, write);
  }
  S->sectors += distinct;
  u64 ideal = ((u64)nunique * size + 31) / 32;
  S->ideal += ideal < distinct ? ideal : distinct;
}

static void count_shared(Warp *w, Stat *S, u32 mask, u64 add, u32 size) {
  /* A phase serves 32 words: all lanes at 4 bytes, half of them at 8, a quarter at 16. */
  u32 phases = size <= 4 ? 1 : size / 4, per = LANES / phases;
  for (u32 p = 0; p < phases; p++) {
    u32 lanes = mask & (phases == 1 ? ALL : ((1u << per) - 1) << (p * per));
    if (!lanes) continue;
    u64 low = ~0ull, high = 0;
    for (u32 l = 0; l < LANES; l++) {
      u64 on = 0 - (u64)(lanes >> l & 1), a = w->addr[l] >> 2;
      low = (a | ~on) < low ? (a | ~on) : low;
      high = (a & on) > high ? (a & on) : high;
    }
    if (high + (size + 3) / 4 - low <= 32) {
      /* Words less than 32 apart lie in banks of their own. */
      S->wavefronts++, S->ideal_wavefronts++;
      continue;
    }
    u64 words[128], highest = 0;
    u32 n = 0;
    LANE_LOOP(lanes, l) {
      u64 a = w->addr[l] + add;
      for (u64 word = a >> 2; word <= (a + size - 1) >> 2; word++) {
        u32 j = word > highest ? 0 : n;
        if (word > highest) highest = word;
        while (j && words[j - 1] != word) j--;
        if (!j && n < 128) words[n++] = word;
      }
    }
    u8 banks[32];
    memset(banks, 0, sizeof banks);
    u32 most = 1;
    for (u32 k = 0; k < n; k++) {
      u32 c = ++banks[words[k] & 31];
      if (c > most) most = c;
    }
    S->wavefronts += most;
    S->ideal_wavefronts++;
  }
}

static void count_access(Warp *w, Stat *S, u32 mask, u32 space, u64 add, u32 size, u32 flags,
                         int write, int contiguous, int same) {
  u32 lanes = (u32)__builtin_popcount(mask);
  S->requests++, S->lanes += lanes, S->bytes += (u64)lanes * size;
  if (space == SHARED) {
    if (contiguous || same) {
      u32 phases = size <= 4 ? 1 : size / 4;
      u32 n = same ? 1 : phases > 1 ? (lanes * size + 127) / 128 : 1;
      S->wavefronts += n, S->ideal_wavefronts += n;
    } else {
      count_shared(w, S, mask, add, size);
    }
    return;
  }
  if (space == LOCAL) {
    S->sectors += (lanes * size + 31) / 32, S->ideal += (lanes * size + 31) / 32;
    return;
  }
  if (space == CONST || space == PARAM) {
    u64 seen[LANES];
    u32 n = 0;
    LANE_LOOP(mask, l) {
      u32 j = n;
      while (j && seen[j - 1] != w->addr[l]) j--;
      if (!j) seen[n++] = w->addr[l];
    }
    S->distinct += n;
    return;
  }
  u32 f = (u32)__builtin_ctz(mask);
  u64 low = w->addr[f] + add;
  if (same) {
    touch_range(w, S, low, low + size, flags, write);
    S->ideal += (size + 31) / 32;
  } else if (contiguous) {
    u32 last = 31 - (u32)__builtin_clz(mask);
    u64 high = low + (u64)(last - f + 1) * size;
    touch_range(w, S, low, high, flags, write);
    u64 ideal = ((u64)lanes * size + 31) / 32, real = ((high - 1) >> 5) - (low >> 5) + 1;
    S->ideal += ideal < real ? ideal : real;
  } else {
    count_scattered(w, S, mask, add, size, flags, write);
  }
}

/* -- the pattern of a request ------------------------------------------------------------------ */

static inline void pattern(const u64 *addr, u32 mask, u32 size, int *contiguous, int *same) {
  u32 f = (u32)__builtin_ctz(mask);
  u64 first = addr[f], start = first - (u64)f * size;
  u64 off_line = 0, off_first = 0;
  for (u32 l = 0; l < LANES; l++) {
    u64 on = 0 - (u64)(mask >> l & 1);
    off_line |= (addr[l] ^ (start + (u64)l * size)) & on;
    off_first |= (addr[l] ^ first) & on;
  }
  *contiguous = !off_line, *same = !off_first;
}

/* -- moving data ------------------------------------------------------------------------------- */

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
  u32 counted = space;
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add;
    enum Trouble t = resolve(w, a, size, l, 0, &P);
    counted = P.space;
    if (t) {
      trouble(w, t, mask, site, l, READ, &P, a, size);
      poison(w, l, elem, vec);
    } else {
      lane_get(w, &P, l, elem, vec);
    }
  }
  count_access(w, stat, mask, counted, add, size, S->flags, 0, contiguous, same);
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
  u32 counted = space;
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add;
    enum Trouble t = resolve(w, a, size, l, 1, &P);
    counted = P.space;
    if (t) trouble(w, t, mask, site, l, WRITE, &P, a, size);
    else lane_put(w, &P, l, elem, vec);
  }
  count_access(w, stat, mask, counted, add, size, S->flags, 1, contiguous, same);
}

/* -- atomics ----------------------------------------------------------------------------------- */

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

static u64 atomic_result(u32 op, u32 type, u64 old, u64 b, u64 c) {
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
  u32 size = S->elem_bytes, op = S->vector & 15, type = S->vector >> 4 & 15;
  u64 add = window(S->space, 0);
  u8 *b = (u8 *)w->scratch, *c = (u8 *)w->scratch + 512, *out = (u8 *)w->scratch + 1024;
  u32 operand_shadow = L->checks ? w->scratch[SHADOW_ROW][0] : 0, result_shadow = 0;
  u32 counted = GLOBAL;
  if (operand_shadow & mask)
    report(w, UNINITIALISED, ERROR, site, (u32)__builtin_ctz(operand_shadow & mask), ATOMIC,
           GENERIC, 0, 0, size, (u32)__builtin_popcount(operand_shadow & mask));
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add, old = 0, vb = 0, vc = 0;
    enum Trouble t = resolve(w, a, size, l, 1, &P);
    counted = P.space;
    if (t) {
      trouble(w, t, mask, site, l, ATOMIC, &P, a, size);
      old = ((u64)POISON << 32) | POISON;
      memcpy(out + l * size, &old, size);
      continue;
    }
    memcpy(&vb, b + l * size, size), memcpy(&vc, c + l * size, size);
    if (L->checks && shadow_atomic(w, l, site, &P, a, size)) result_shadow |= 1u << l;
    if (P.local) {
      for (u32 k = 0; k < size; k++) ((u8 *)&old)[k] = *local_byte(w, P.offset + k, l);
    } else {
      memcpy(&old, P.p, size);
    }
    u64 new = atomic_result(op, type, old, vb, vc);
    if (P.local) {
      for (u32 k = 0; k < size; k++) *local_byte(w, P.offset + k, l) = ((u8 *)&new)[k];
    } else {
      memcpy(P.p, &new, size);
    }
    if (P.written) memset(P.written, 1, size);
    memcpy(out + l * size, &old, size);
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
  count_access(w, stat, mask, counted == CONST ? GLOBAL : counted, add, size, S->flags | BYPASS_L1,
               1, 0, n == 1);
}

/* -- asynchronous copies ------------------------------------------------------------------------ */

void rt_cp_async(Warp *w, u32 mask, u32 site) {
  if (!mask) return;
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  Stat *stat = &L->stats[site];
  u32 size = S->elem_bytes;
  u64 from[LANES];
  u32 given[LANES];
  memcpy(from, w->scratch, sizeof from);
  memcpy(given, (u8 *)w->scratch + 512, sizeof given);
  int contiguous, same;
  LANE_LOOP(mask, l) {
    Place D, G;
    u64 to = w->addr[l] + BASE(SHARED_SLOT);
    u32 n = given[l] < size ? given[l] : size;
    enum Trouble t = resolve(w, to, size, l, 1, &D);
    if (t) {
      trouble(w, t, mask, site, l, WRITE, &D, to, size);
      continue;
    }
    u8 value[16] = {0};
    if (n) {
      t = resolve(w, from[l], n, l, 0, &G);
      if (t == UNALIGNED) t = from[l] % (size < 16 ? size : 16) ? UNALIGNED : FINE;
      if (t) {
        trouble(w, t, 0, site, l, READ, &G, from[l], n);
        for (u32 k = 0; k < size; k += 4) memcpy(value + k, &(u32){POISON}, 4);
      } else {
        memcpy(value, G.p, n);
      }
    }
    memcpy(D.p, value, size);
    if (L->checks) {
      u32 bad = n && !t ? shadow_copy_source(w, l, site, &G, from[l], n) : 0;
      shadow_copy_begin(w, l, site, &D, to, size, bad);
    }
  }
  pattern(w->addr, mask, size, &contiguous, &same);
  u64 keep[LANES];
  memcpy(keep, w->addr, sizeof keep);
  u32 reads = 0;
  LANE_LOOP(mask, l) if (given[l]) reads |= 1u << l;
  if (reads) {
    memcpy(w->addr, from, sizeof from);
    int line, one;
    pattern(w->addr, reads, size, &line, &one);
    count_access(w, stat, reads, GLOBAL, 0, size, S->flags | BYPASS_L1, 0, line, one);
    memcpy(w->addr, keep, sizeof keep);
  }
}

void rt_cp_commit(Warp *w, u32 mask, u32 site) {
  (void)site;
  for (u32 k = 0; k < w->async_count; k++)
    if (mask >> w->async[k].lane & 1 && !w->async[k].committed) {
      w->async[k].committed = 1;
      w->async[k].group = w->groups[w->async[k].lane];
    }
  LANE_LOOP(mask, l) w->groups[l]++;
}

void rt_cp_wait(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 keep = 0;
  for (u32 k = 0; k < w->async_count; k++) {
    Async *a = &w->async[k];
    int mine = mask >> a->lane & 1;
    int done = mine && (S->flags & 1 ||
                        (a->committed && w->groups[a->lane] - a->group > S->vector));
    if (done) shadow_copy_end(w, a->lane, site, a->offset, a->size);
    else w->async[keep++] = *a;
  }
  w->async_count = keep;
}

/* -- matrices ---------------------------------------------------------------------------------- */

void vg_ldmatrix(u32 *d, const u32 *rows, int count, int trans);
void vg_stmatrix(u32 *rows, const u32 *s, int count, int trans);

void rt_ldmatrix(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 count = S->vector & 15, lanes = count == 4 ? ALL : (1u << (8 * count)) - 1;
  u32 rows[4][LANES], undefined[4][LANES];
  memset(rows, 0, sizeof rows), memset(undefined, 0, sizeof undefined);
  LANE_LOOP(lanes & mask, l) {
    Place P;
    u64 a = w->addr[l] + (S->space == SHARED ? BASE(SHARED_SLOT) : 0);
    enum Trouble t = resolve(w, a, 16, l, 0, &P);
    if (t) {
      trouble(w, t, mask, site, l, READ, &P, a, 16);
      for (u32 k = 0; k < 4; k++) rows[k][l] = 0x7fff7fff;
      continue;
    }
    if (w->launch->checks) {
      u8 bytes[16];
      shadow_row_read(w, l, site, &P, a, bytes);
      for (u32 k = 0; k < 4; k++) memcpy(&undefined[k][l], bytes + 4 * k, 4);
    }
    for (u32 k = 0; k < 4; k++) memcpy(&rows[k][l], P.p + 4 * k, 4);
  }
  vg_ldmatrix(&w->scratch[8][0], &rows[0][0], (int)count, S->vector >> 4 & 1);
  if (w->launch->checks) {
    u32 fragment[4][LANES];
    vg_ldmatrix(&fragment[0][0], &undefined[0][0], (int)count, S->vector >> 4 & 1);
    shadow_fragment(w, &fragment[0][0], count);
  }
  count_access(w, &w->launch->stats[site], lanes & mask, SHARED, 0, 16, 0, 0, 0, 0);
}

void rt_stmatrix(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 count = S->vector & 15, lanes = count == 4 ? ALL : (1u << (8 * count)) - 1;
  u32 rows[4][LANES], undefined[4][LANES];
  memset(rows, 0, sizeof rows), memset(undefined, 0, sizeof undefined);
  vg_stmatrix(&rows[0][0], &w->scratch[8][0], (int)count, S->vector >> 4 & 1);
  if (w->launch->checks) {
    u32 fragment[4][LANES];
    fragment_shadow(w, &fragment[0][0], count);
    vg_stmatrix(&undefined[0][0], &fragment[0][0], (int)count, S->vector >> 4 & 1);
  }
  LANE_LOOP(lanes & mask, l) {
    Place P;
    u64 a = w->addr[l] + (S->space == SHARED ? BASE(SHARED_SLOT) : 0);
    enum Trouble t = resolve(w, a, 16, l, 1, &P);
    if (t) {
      trouble(w, t, mask, site, l, WRITE, &P, a, 16);
      continue;
    }
    if (w->launch->checks) {
      u8 bytes[16];
      for (u32 k = 0; k < 4; k++) memcpy(bytes + 4 * k, &undefined[k][l], 4);
      shadow_row_write(w, l, site, &P, a, bytes);
    }
    for (u32 k = 0; k < 4; k++) memcpy(P.p + 4 * k, &rows[k][l], 4);
  }
  count_access(w, &w->launch->stats[site], lanes & mask, SHARED, 0, 16, 0, 1, 0, 0);
}

void rt_tensor(Warp *w, u32 mask, u32 site) {
  w->launch->stats[site].requests++;
  w->launch->stats[site].lanes += (u32)__builtin_popcount(mask);
}
