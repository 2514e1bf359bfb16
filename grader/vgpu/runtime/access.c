/* An access of a warp: its addresses are resolved, checked and counted. */

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
static void shadow_texel_write(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size,
                               int same_value, u32 undefined);
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

static inline int beyond(u64 offset, u32 size, u64 extent) {
  return offset >= extent || extent - offset < size;
}

/* An access that leaves its array's end askew is misaligned first: so a GPU says. */
static inline enum Trouble outside(u64 offset, u64 a, u32 size, u64 extent) {
  return offset < extent && a % size ? UNALIGNED : OUTSIDE;
}

static enum Trouble resolve(Warp *w, u64 a, u32 size, u32 lane, int write, Place *P) {
  Launch *L = w->launch;
  u64 slot = a >> SLOT_BITS;
  P->p = 0, P->written = 0, P->shadow = 0, P->flags = 0, P->local = 0;
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
    if (beyond(P->offset, size, b->size)) return outside(P->offset, a, size, b->size);
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
    if (k >= L->nshared) return OUTSIDE;
    if (beyond((u64)inside, size, L->shared_arrays[k].size))
      return outside((u64)inside, a, size, L->shared_arrays[k].size);
    P->offset = L->shared_arrays[k].storage + (u64)inside;
    P->p = w->block->shared + P->offset;
    P->shadow = &w->block->shared_shadow;
    return a % size ? UNALIGNED : FINE;
  }
  if (slot == LOCAL_SLOT) {
    P->space = LOCAL, P->buffer = LOCAL_ID | (u32)k;
    P->offset = (u64)inside;
    if (k >= L->nlocal) return OUTSIDE;
    if (beyond((u64)inside, size, L->local_arrays[k].size))
      return outside((u64)inside, a, size, L->local_arrays[k].size);
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

/* The same for an instruction of one state space: whatever its address is made to say, it reaches no
   memory of another one. Constant memory and global memory share the generic addresses. */
static enum Trouble resolve_in(Warp *w, u32 space, u64 a, u32 size, u32 lane, int write, Place *P) {
  enum Trouble t = resolve(w, a, size, lane, write, P);
  int apart = P->space == SHARED || P->space == LOCAL || P->space == PARAM;
  int foreign = space == SHARED || space == LOCAL ? P->space != space
                : space == GLOBAL || space == CONST ? apart && P->space != PARAM
                                                    : 0;
  if (!foreign) return t;
  P->p = 0, P->buffer = 0, P->space = space;
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
  /* 128-byte lines of four sectors; L1 per block and L2 are direct mapped, writes go through and
     leave what L1 has. Where a line lies depends on its buffer too, as sets of caches are hashed:
     arrays that begin at equal offsets must not always meet. */
  u64 place = line + (line >> (SLOT_BITS - 7)) * 0x9e3779b1u;
  u64 *l1 = &B->l1_tags[place & L->l1_mask];
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
  }
  if (!missing) return;
  S->l2_sectors += (u32)__builtin_popcount(missing);
  u64 *l2 = &L->l2_tags[place & (L->l2_lines - 1)];
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
  /* Lanes that read the same bytes use them once: no request uses more than it moves. */
  u64 used = (u64)nunique * size, ideal = (used + 31) / 32;
  S->ideal += ideal < distinct ? ideal : distinct;
  S->bytes += used < 32ull * distinct ? used : 32ull * distinct;
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

/* Counts an access of a warp; returns the clocks until its values are there. */
static inline u32 count(Warp *w, Stat *S, u32 mask, u32 space, u64 add, u32 size, u32 flags,
                        int write, int contiguous, int same) {
  const u32 *latencies = w->launch->latencies;
  u32 lanes = (u32)__builtin_popcount(mask);
  S->requests++, S->lanes += lanes;
  if (space == SHARED) {
    S->shared_requests++;
    u64 before = S->wavefronts;
    if (contiguous || same) {
      u32 phases = size <= 4 ? 1 : size / 4;
      u32 n = same ? 1 : phases > 1 ? (lanes * size + 127) / 128 : 1;
      S->wavefronts += n, S->ideal_wavefronts += n;
    } else {
      count_shared(w, S, mask, add, size);
    }
    return latencies[SHARED_LATENCY] + (u32)(S->wavefronts - before) - 1;
  }
  if (space == LOCAL) {
    S->sectors += (lanes * size + 31) / 32, S->ideal += (lanes * size + 31) / 32;
    return latencies[L1_LATENCY];
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
    return latencies[L1_LATENCY] + n - 1;
  }
  u64 l2 = S->l2_sectors, dram = S->dram_sectors;
  u32 f = (u32)__builtin_ctz(mask);
  u64 low = w->addr[f] + add;
  if (same) {
    touch_range(w, S, low, low + size, flags, write);
    S->ideal += (size + 31) / 32, S->bytes += size;
  } else if (contiguous) {
    u32 last = 31 - (u32)__builtin_clz(mask);
    u64 high = low + (u64)(last - f + 1) * size;
    touch_range(w, S, low, high, flags, write);
    u64 ideal = ((u64)lanes * size + 31) / 32, real = ((high - 1) >> 5) - (low >> 5) + 1;
    S->ideal += ideal < real ? ideal : real;
    S->bytes += (u64)lanes * size;
  } else {
    count_scattered(w, S, mask, add, size, flags, write);
  }
  return latencies[S->dram_sectors != dram ? DRAM_LATENCY
                   : S->l2_sectors != l2   ? L2_LATENCY
                                           : L1_LATENCY];
}

static void count_access(Warp *w, Stat *S, u32 mask, u32 space, u64 add, u32 size, u32 flags,
                         int write, int contiguous, int same) {
  u32 clocks = count(w, S, mask, space, add, size, flags, write, contiguous, same);
  u32 site = (u32)(S - w->launch->stats);
  const Site *at = &w->launch->sites[site];
  w->accesses++;
  if (!at->wait) return;
  u32 lane = (u32)__builtin_ctz(mask), row = write ? 1024 : 0;
  waits(w, at->wait, lane, clocks);
  if (write || flags & (VOLATILE | RELAXED | ACQUIRE))
    polled(w, site, w->addr[lane], (u8 *)w->scratch + row + lane * at->elem_bytes, at->elem_bytes);
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

/* An access whose lanes may lie in several spaces: `lying` has those of each. Each space does the work
   that is its own. */
enum { SPACES = PARAM + 1 };
static void count_spaces(Warp *w, Stat *S, const u32 *lying, u32 mask, u64 add, u32 size, u32 flags,
                         int write, int contiguous, int same) {
  for (u32 space = 0; space < SPACES; space++) {
    if (!lying[space]) continue;
    int line = contiguous, one = same;
    if (lying[space] != mask) pattern(w->addr, lying[space], size, &line, &one);
    count_access(w, S, lying[space], space, add, size, flags, write, line, one);
  }
}
