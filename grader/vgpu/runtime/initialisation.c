/* Which bytes were never written. */

static inline u8 *init_byte(Warp *w, const Place *P, u32 lane, u32 k) {
  if (P->local) {
    u64 o = P->offset + k;
    return w->local_init + (o / 4 * LANES + lane) * 4 + o % 4;
  }
  return P->shadow && P->shadow->init ? P->shadow->init + P->offset + k : 0;
}

/* Undefined bytes that local memory only passes on keep the load that they came from. */
#define MOST_ORIGINS (1u << 16)

static u32 *local_origin(Warp *w, u32 lane, u64 offset) {
  return w->local_origin + offset / 4 * LANES + lane;
}

static u32 keep_origin(Warp *w, u32 lane) {
  Launch *L = w->launch;
  const Origin *o = &w->origin[lane];
  if (!o->site) return 0;
  u32 kept = w->origin_kept[lane];
  if (kept && !memcmp(&L->origins[kept - 1], o, sizeof *o)) return kept;
  if (!L->origins) L->origins = malloc(MOST_ORIGINS * sizeof *o);
  if (L->norigins == MOST_ORIGINS) return 0;
  L->origins[L->norigins++] = *o;
  return w->origin_kept[lane] = (u32)L->norigins;
}

/* `bad` of the bytes that a lane puts into local memory are undefined. A value of which some bytes
   are defined is a new one: reading it is what goes wrong. */
static void local_store_origin(Warp *w, u32 lane, const Place *P, u32 size, u32 bad) {
  if (!bad && !w->local_origin) return;
  if (!w->local_origin) w->local_origin = calloc(LANES, w->launch->local_bytes);
  u32 kept = bad == size ? keep_origin(w, lane) : 0;
  for (u64 k = P->offset / 4 * 4; k < P->offset + size; k += 4) *local_origin(w, lane, k) = kept;
}

static void undefined_load(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size) {
  w->origin[lane] = (Origin){call_site(w, lane, site) + 1, P->buffer, P->space, size, a};
}

/* The same of local memory, whose first undefined byte is at `offset`. */
static void undefined_local(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size,
                            u64 offset) {
  u32 kept = w->local_origin ? *local_origin(w, lane, offset) : 0;
  if (kept) w->origin[lane] = w->launch->origins[kept - 1];
  else undefined_load(w, lane, site, P, a, size);
}

static inline int all_ones(const u8 *p, u32 n) {
  switch (n) {
  case 1: return p[0];
  case 2: return *(const u16 *)p == 0x0101;
  case 4: return *(const u32 *)p == 0x01010101u;
  case 8: return *(const u64 *)p == 0x0101010101010101ull;
  default:
    for (u32 k = 0; k < n; k++)
      if (!p[k]) return 0;
    return 1;
  }
}

/* A whole warp storing 32 neighbours that nobody has touched yet: the usual output. */
static int store_fresh(Warp *w, Buffer *b, u32 site, u64 offset, u32 size) {
  Shadow *s = &b->shadow;
  if (size != 4 || (s->cells && s->shift != 2) || offset & 3) return 0;
  Cell *c = cells(s, offset, 4);
  u32 any = 0;
  for (u32 l = 0; l < LANES; l++) any |= c[l].flags;
  if (any) return 0;
  for (u32 l = 0; l < LANES; l++) {
    c[l].write.thread = thread_of(w, l), c[l].write.clock = w->clock;
    c[l].write.site = call_site(w, l, site);
    c[l].serial = w->serial, c[l].flags = HAS_WRITE;
  }
  memcpy(b->host + offset, w->scratch, LANES * size);
  if (b->written) memset(b->written + offset, 1, LANES * size);
  if (s->init) memset(s->init + offset, 1, LANES * size);
  return 1;
}

static int tracked(const Place *P) {
  return P->shadow && !(P->flags & (READ_ONLY | IS_CONST)) && (P->space == SHARED || P->space == GLOBAL);
}

static void shadow_load(Warp *w, u32 mask, u32 site, u64 add) {
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  Stat *stat = &L->stats[site];
  u32 elem = S->elem_bytes, vec = S->vector, size = elem * vec;
  u32 *out = &w->scratch[SHADOW_ROW][0];
  int contiguous, same;
  pattern(w->addr, mask, size, &contiguous, &same);
  memset(out, 0, size * sizeof(u32));
  w->serial++;
  if (S->space == GENERIC || S->space == GLOBAL || S->space == CONST) {
    Buffer *b = one_buffer(L, w->addr, mask, size, contiguous, same);
    if (b && b->flags & (READ_ONLY | IS_CONST) && !b->shadow.init) {
      u32 f = (u32)__builtin_ctz(mask);
      const u8 *p = b->host + (w->addr[f] - b->base);
      if (same) spread(w, p, elem, vec);
      else if (contiguous && mask == ALL && vec == 1) memcpy(w->scratch, p, 32 * elem);
      else gather(w, mask, b->host, w->addr, b->base, elem, vec);
      count_access(w, stat, mask, b->flags & IS_CONST ? CONST : GLOBAL, 0, size, S->flags, 0,
                   contiguous, same);
      return;
    }
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
      continue;
    }
    lane_get(w, &P, l, elem, vec);
    u8 *init = init_byte(w, &P, l, 0);
    if (init && (P.local || !all_ones(init, size))) {
      u32 bad = 0, first = 0;
      for (u32 k = size; k-- > 0;)
        if (!*init_byte(w, &P, l, k)) out[k] |= 1u << l, bad++, first = k;
      if (bad && P.local) undefined_local(w, l, site, &P, a, size, P.offset + first);
      else if (bad) undefined_load(w, l, site, &P, a, size);
    }
    if (tracked(&P)) race_access(w, l, site, READ, S->flags, &P, a, size, 0);
    if (S->flags & (VOLATILE | RELAXED | ACQUIRE)) observed(w, a, S->flags & ACQUIRE);
  }
  count_spaces(w, stat, lying, mask, add, size, S->flags, 0, contiguous, same);
}

static void shadow_store(Warp *w, u32 mask, u32 site, u64 add) {
  Launch *L = w->launch;
  const Site *S = &L->sites[site];
  Stat *stat = &L->stats[site];
  u32 elem = S->elem_bytes, vec = S->vector, size = elem * vec;
  const u32 *in = &w->scratch[SHADOW_ROW][0];
  int contiguous, same;
  pattern(w->addr, mask, size, &contiguous, &same);
  w->serial++;
  u32 lying[SPACES] = {0}, undefined = 0;
  for (u32 k = 0; k < size; k++) undefined |= in[k];
  undefined &= mask;
  if (contiguous && mask == ALL && vec == 1 && !undefined && !S->flags &&
      (S->space == GLOBAL || S->space == GENERIC)) {
    Buffer *b = one_buffer(L, w->addr, mask, size, contiguous, same);
    if (b && !(b->flags & (READ_ONLY | IS_CONST)) &&
        store_fresh(w, b, site, w->addr[0] - b->base, size)) {
      count_access(w, stat, mask, GLOBAL, 0, size, S->flags, 1, contiguous, same);
      return;
    }
  }
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add;
    enum Trouble t = resolve_in(w, S->space, a, size, l, 1, &P);
    lying[P.space] |= 1u << l;
    if (t) {
      trouble(w, t, mask, site, l, WRITE, &P, a, size);
      if (t == OUTSIDE) move_inside(w, S->space, a, l, elem, vec, 1);
      continue;
    }
    u32 bad = 0;
    for (u32 k = 0; k < size && undefined >> l & 1; k++) bad += in[k] >> l & 1;
    int alone = bad == size; /* a structure may have bytes that nobody wrote, a value none */
    for (u32 v = 0; v < vec && bad && !alone; v++) {
      u32 wrong = 0;
      for (u32 k = v * elem; k < (v + 1) * elem; k++) wrong += in[k] >> l & 1;
      alone = wrong == elem && S->flags & COMPUTED << v;
    }
    if (alone && P.space == GLOBAL) {
      rt_uninitialised(w, 1u << l, site);
      bad = 0;
    } else if (bad == size && P.space == SHARED && w->origin[l].site) {
      const Origin *o = &w->origin[l];
      report(w, UNINITIALISED, NOTE, o->site - 1, l, READ, o->space, o->buffer, o->address,
             o->size, 1);
    }
    if (P.local) local_store_origin(w, l, &P, size, bad);
    int equal = 0;
    if (tracked(&P)) {
      equal = 1;
      const u8 *from = (const u8 *)w->scratch;
      for (u32 v = 0; v < vec; v++)
        equal &= !memcmp(P.p + v * elem, from + (v * LANES + l) * elem, elem);
      race_access(w, l, site, WRITE, S->flags, &P, a, size, equal);
    }
    lane_put(w, &P, l, elem, vec);
    u8 *init = init_byte(w, &P, l, 0);
    if (init && !bad && !P.local) memset(init, 1, size);
    else if (init)
      for (u32 k = 0; k < size; k++) *init_byte(w, &P, l, k) = bad ? !(in[k] >> l & 1) : 1;
    if (S->flags & (VOLATILE | RELAXED | RELEASE)) published(w, a, S->flags);
  }
  count_spaces(w, stat, lying, mask, add, size, S->flags, 1, contiguous, same);
}

/* Returns whether the old value was undefined and nothing has said so: an exchange only takes it
   out, and its use is what goes wrong. */
static int shadow_atomic(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size) {
  const Site *S = &w->launch->sites[site];
  int bad = 0;
  for (u32 k = 0; k < size; k++) {
    u8 *i = init_byte(w, P, lane, k);
    if (i && !*i) bad = 1, *i = 1;
  }
  w->serial++;
  int exchanged = (S->vector & 15) == 6;
  if (bad) undefined_load(w, lane, site, P, a, size);
  if (bad && !exchanged) rt_uninitialised(w, 1u << lane, site);
  if (tracked(P)) race_access(w, lane, site, ATOMIC, S->flags | RELAXED, P, a, size, 0);
  observed(w, a, 1);
  published(w, a, S->flags);
  return bad && exchanged;
}

/* -- asynchronous copies and fragments ------------------------------------------------------------ */

static u32 shadow_copy_source(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size) {
  u32 bad = 0;
  for (u32 k = 0; k < size; k++) {
    u8 *i = init_byte(w, P, lane, k);
    if (i && !*i) bad = 1;
  }
  if (bad) undefined_load(w, lane, site, P, a, size);
  if (tracked(P)) race_access(w, lane, site, READ, 0, P, a, size, 0);
  return bad;
}

static void shadow_copy_begin(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size,
                              u32 bad) {
  w->serial++;
  race_access(w, lane, site, WRITE, 0, P, a, size, 0);
  Cell *c = cells(P->shadow, P->offset, 4);
  u32 n = size >> P->shadow->shift;
  for (u32 k = 0; k < n; k++) c[k].flags |= IN_FLIGHT;
  for (u32 k = 0; k < size; k++) {
    u8 *i = init_byte(w, P, lane, k);
    if (i) *i = !bad;
  }
  if (w->async_count == w->async_capacity) {
    w->async_capacity = w->async_capacity ? 2 * w->async_capacity : 64;
    w->async = realloc(w->async, w->async_capacity * sizeof(Async));
  }
  w->async[w->async_count++] = (Async){lane, 0, (u32)P->offset, size, 0};
}

static void shadow_copy_end(Warp *w, u32 lane, u32 site, u32 offset, u32 size) {
  Shadow *s = &w->block->shared_shadow;
  (void)site;
  if (!w->launch->checks) return;
  Cell *c = cells(s, offset, 4);
  for (u32 k = 0; k < size >> s->shift; k++) {
    c[k].flags = HAS_WRITE;
    c[k].write.thread = thread_of(w, lane), c[k].write.clock = w->clock;
  }
}

/* A row of a matrix: `undefined` gets, or gives, 0xff for each of its 16 bytes that nobody wrote. */
static void shadow_row_read(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u8 *undefined) {
  u32 bad = 0;
  w->serial++;
  for (u32 k = 0; k < 16; k++) {
    u8 *i = init_byte(w, P, lane, k);
    undefined[k] = i && !*i ? 0xff : 0;
    bad |= undefined[k];
  }
  if (bad) /* the values go to other lanes: each must know where they came from */
    for (u32 l = 0; l < LANES; l++) undefined_load(w, l, site, P, a, 16);
  if (tracked(P)) race_access(w, lane, site, READ, 0, P, a, 16, 0);
}

static void shadow_row_write(Warp *w, u32 lane, u32 site, const Place *P, u64 a,
                             const u8 *undefined) {
  w->serial++;
  if (tracked(P)) race_access(w, lane, site, WRITE, 0, P, a, 16, 0);
  for (u32 k = 0; k < 16; k++) {
    u8 *i = init_byte(w, P, lane, k);
    if (i) *i = !undefined[k];
  }
}

static void shadow_texel_write(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size,
                               int same_value, u32 undefined) {
  if (tracked(P)) race_access(w, lane, site, WRITE, 0, P, a, size, same_value);
  for (u32 k = 0; k < size; k++) {
    u8 *i = init_byte(w, P, lane, k);
    if (i) *i = !undefined;
  }
}

/* Registers of a fragment, a byte 0xff where undefined, as the masks of lanes that code reads. */
static void shadow_fragment(Warp *w, const u32 *fragment, u32 count) {
  u32 *out = &w->scratch[SHADOW_ROW][0];
  memset(out, 0, 4 * count * sizeof(u32));
  for (u32 k = 0; k < 4 * count; k++)
    for (u32 l = 0; l < LANES; l++)
      out[k] |= (fragment[k / 4 * LANES + l] >> 8 * (k % 4) & 1) << l;
}

/* And back. */
static void fragment_shadow(Warp *w, u32 *fragment, u32 count) {
  const u32 *in = &w->scratch[SHADOW_ROW][0];
  memset(fragment, 0, count * LANES * sizeof(u32));
  for (u32 k = 0; k < 4 * count; k++)
    for (u32 l = 0; l < LANES; l++)
      if (in[k] >> l & 1) fragment[k / 4 * LANES + l] |= 0xffu << 8 * (k % 4);
}
