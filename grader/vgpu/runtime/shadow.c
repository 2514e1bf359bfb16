/* What no GPU says: which bytes were never written, and which accesses nothing orders.

   Order is kept by vector clocks of warps. A warp's clock ticks when it publishes what it did: at
   barriers, fences, releases and __syncwarp. An access is stamped (thread, clock); it precedes a
   thread's present when that thread's knowledge of the stamping warp has reached the clock
   (Flanagan and Freund, FastTrack, PLDI 2009). Lanes of one warp know each other by lane. */

typedef struct Chunk { struct Chunk *next; u8 data[]; } Chunk;

static void *arena(Launch *L, u64 size) {
  if (L->arena_left < size || !L->arena) {
    Chunk *c = malloc(sizeof(Chunk) + (1 << 20));
    c->next = L->arena, L->arena = c, L->arena_left = 1 << 20;
  }
  L->arena_left -= size;
  return L->arena->data + L->arena_left;
}

void shadow_free(Shadow *s) {
  free(s->cells);
  s->cells = 0;
}

static void shadow_finish(Launch *L) {
  for (u64 k = 0; k < L->nslots; k++)
    if (L->slots[k]) shadow_free(&L->slots[k]->shadow);
  for (u64 k = 0; k < L->nsync; k++) free(L->sync[k].vc), free(L->sync[k].block_vc);
  free(L->sync);
  L->sync = 0, L->nsync = L->sync_capacity = 0;
  while (L->arena) {
    Chunk *c = L->arena;
    L->arena = c->next;
    free(c);
  }
}

static void shadow_block_start(Launch *L, Block *B) {
  Shadow *s = &B->shared_shadow;
  s->size = L->shared_bytes;
  if (!s->init) s->init = calloc(1, L->shared_bytes + 64);
  else memset(s->init, 0, L->shared_bytes);
  if (s->cells) memset(s->cells, 0, (s->size >> s->shift) * sizeof(Cell) + sizeof(Cell));
}

/* Zeroed cells; large arrays ask for large pages, which halve the time of first touch. */
static Cell *cells_new(u64 n) {
  Cell *c = calloc(n, sizeof(Cell));
#ifdef __linux__
  extern int madvise(void *, usize, int);
  u64 first = ((u64)c + 4095) & ~4095ull, end = ((u64)c + n * sizeof(Cell)) & ~4095ull;
  if (c && n * sizeof(Cell) > 4 << 20) madvise((void *)first, end - first, 14);
#endif
  return c;
}

static Cell *cells(Shadow *s, u64 offset, u32 size) {
  u32 want = size >= 4 ? 2 : size == 2 ? 1 : 0;
  if (offset & 3 && want > 1) want = offset & 1 ? 0 : 1;
  if (!s->cells) {
    s->shift = want;
    s->cells = cells_new((s->size >> want) + 2);
  } else if (s->shift > want) {
    u64 n = (s->size >> want) + 2;
    Cell *finer = cells_new(n);
    for (u64 k = 0; k < n; k++) {
      u64 old = (k << want) >> s->shift;
      if (old < (s->size >> s->shift) + 1) finer[k] = s->cells[old];
    }
    free(s->cells);
    s->cells = finer, s->shift = want;
  }
  return s->cells + (offset >> s->shift);
}

/* -- order ------------------------------------------------------------------------------------- */

/* Threads are numbered 32 to a warp, warps through the grid: no division on the way back. */
static inline u32 thread_of(Warp *w, u32 lane) { return w->gid * LANES + lane; }

enum Relation { ORDERED, SAME_WARP, SAME_BLOCK, OTHER_BLOCK };

static inline enum Relation relation(Warp *w, u32 lane, Stamp s, u32 space) {
  u32 gid = s.thread / LANES, l = s.thread % LANES;
  int apart = space == SHARED && w->shared_vc;
  if (gid == w->gid) {
    u32 known = (apart ? w->shared_lane_vc : w->lane_vc)[lane][l];
    return l == lane || known >= s.clock ? ORDERED : SAME_WARP;
  }
  u32 warp = gid - w->block->linear * w->nwarps;
  if (warp < w->nwarps)
    return (apart ? w->shared_vc : w->vc)[warp] >= s.clock ? ORDERED : SAME_BLOCK;
  return w->gvc && w->gvc[gid] >= s.clock ? ORDERED : OTHER_BLOCK;
}

static void name_other(Warp *w, Fault *f, Stamp s, u32 access) {
  u32 gid = s.thread / LANES;
  f->has_other = 1, f->other_site = s.site, f->other_access = access;
  f->other_block = gid / w->nwarps;
  f->other_thread = gid % w->nwarps * LANES + s.thread % LANES;
}

static u32 *copied(const u32 *from, u32 n) {
  u32 *out = malloc(n * sizeof(u32));
  memcpy(out, from, n * sizeof(u32));
  return out;
}

/* From here on shared memory has an order of its own. */
static void order_apart(Warp *w) {
  if (w->shared_vc) return;
  w->shared_vc = copied(w->vc, w->nwarps);
  w->shared_lane_vc = malloc(LANES * sizeof *w->lane_vc);
  memcpy(w->shared_lane_vc, w->lane_vc, LANES * sizeof *w->lane_vc);
}

static void free_order(Warp *w) {
  free(w->vc), free(w->lane_vc), free(w->shared_vc), free(w->shared_lane_vc);
}

static void forget_order(Warp *w) {
  memset(w->vc, 0, w->nwarps * sizeof(u32));
  memset(w->lane_vc, 0, LANES * sizeof *w->lane_vc);
  free(w->shared_vc), free(w->shared_lane_vc);
  w->shared_vc = 0, w->shared_lane_vc = 0;
}

static void lanes_ordered(Warp *w, u32 (*vc)[LANES], u32 mask) {
  u32 now[LANES];
  memset(now, 0, sizeof now);
  LANE_LOOP(mask, l) for (u32 k = 0; k < LANES; k++) now[k] = vc[l][k] > now[k] ? vc[l][k] : now[k];
  LANE_LOOP(mask, l) now[l] = w->clock;
  LANE_LOOP(mask, l) memcpy(vc[l], now, sizeof now);
}

/* `flags`: what is not ordered. */
static void warp_ordered(Warp *w, u32 mask, u32 flags) {
  if (flags & (NOT_GLOBAL | NOT_SHARED)) order_apart(w);
  if (!(flags & NOT_GLOBAL)) lanes_ordered(w, w->lane_vc, mask);
  if (w->shared_vc && !(flags & NOT_SHARED)) lanes_ordered(w, w->shared_lane_vc, mask);
  w->clock++;
}

void rt_warp_ordered(Warp *w, u32 mask, u32 site) {
  warp_ordered(w, mask, w->launch->sites[site].vector);
}

static void join(u32 **into, const u32 *from, u32 n) {
  if (!from) return;
  if (!*into) *into = calloc(n, sizeof(u32));
  for (u32 k = 0; k < n; k++)
    if (from[k] > (*into)[k]) (*into)[k] = from[k];
}

/* Everything a warp knows, as clocks of all warps of the grid. */
static u32 *knowledge(Warp *w) {
  u32 n = w->launch->total_warps, first = w->block->linear * w->nwarps;
  u32 *out = calloc(n, sizeof(u32));
  if (w->gvc) memcpy(out, w->gvc, n * sizeof(u32));
  for (u32 k = 0; k < w->nwarps; k++)
    if (w->vc[k] > out[first + k]) out[first + k] = w->vc[k];
  out[w->gid] = w->clock;
  return out;
}

/* What another warp of the block published: fences and flags order both kinds of memory. */
static void block_known(Warp *w, const u32 *vc) {
  for (u32 k = 0; k < w->nwarps; k++) {
    if (k == w->warpid) continue;
    if (vc[k] > w->vc[k]) w->vc[k] = vc[k];
    if (w->shared_vc && vc[k] > w->shared_vc[k]) w->shared_vc[k] = vc[k];
  }
}

static void absorb(Warp *w, const u32 *vc) {
  if (!vc) return;
  u32 first = w->block->linear * w->nwarps;
  join(&w->gvc, vc, w->launch->total_warps);
  block_known(w, vc + first);
  u32 own = vc[w->gid];
  for (u32 l = 0; l < LANES && own; l++)
    for (u32 k = 0; k < LANES; k++) {
      if (w->lane_vc[l][k] < own) w->lane_vc[l][k] = own;
      if (w->shared_vc && w->shared_lane_vc[l][k] < own) w->shared_lane_vc[l][k] = own;
    }
}

/* Every warp at the barrier learns what any of them knows, of one kind of memory. */
static void warps_joined(Block *B, Barrier *b, int shared) {
  u32 n = B->nwarps;
  u32 *now = calloc(n, sizeof(u32));
  for (u32 j = 0; j < n; j++) {
    if (!b->mask[j]) continue;
    const u32 *vc = shared ? B->warps[j]->shared_vc : B->warps[j]->vc;
    for (u32 k = 0; k < n; k++)
      if (vc[k] > now[k]) now[k] = vc[k];
  }
  for (u32 j = 0; j < n; j++)
    if (b->mask[j]) now[j] = B->warps[j]->clock;
  for (u32 j = 0; j < n; j++)
    if (b->mask[j]) memcpy(shared ? B->warps[j]->shared_vc : B->warps[j]->vc, now, n * sizeof(u32));
  free(now);
}

static void barrier_joined(Block *B, Barrier *b) {
  u32 n = B->nwarps, total = B->warps[0]->launch->total_warps, *far = 0;
  int apart = (b->flags & (NOT_GLOBAL | NOT_SHARED)) != 0;
  for (u32 j = 0; j < n; j++)
    if (b->mask[j]) apart |= B->warps[j]->shared_vc != 0;
  for (u32 j = 0; j < n; j++) {
    if (!b->mask[j]) continue;
    if (apart) order_apart(B->warps[j]);
    if (!(b->flags & NOT_GLOBAL)) join(&far, B->warps[j]->gvc, total);
  }
  if (!(b->flags & NOT_GLOBAL)) warps_joined(B, b, 0);
  if (apart && !(b->flags & NOT_SHARED)) warps_joined(B, b, 1);
  for (u32 j = 0; j < n; j++) {
    if (!b->mask[j]) continue;
    if (far) join(&B->warps[j]->gvc, far, total);
    warp_ordered(B->warps[j], b->mask[j], b->flags);
  }
  free(far);
}

static Sync *sync_at(Launch *L, u64 address, int make) {
  u64 mask = L->sync_capacity - 1;
  if (L->sync_capacity) {
    /* Linear scan from a hash: tables stay small, flags and tickets are few. */
    for (u64 k = 0; k < L->nsync; k++)
      if (L->sync[k].address == address) return &L->sync[k];
  }
  (void)mask;
  if (!make || L->nsync >= 1 << 16) return 0;
  if (L->nsync == L->sync_capacity) {
    L->sync_capacity = L->sync_capacity ? 2 * L->sync_capacity : 16;
    L->sync = realloc(L->sync, L->sync_capacity * sizeof(Sync));
  }
  Sync *s = &L->sync[L->nsync++];
  memset(s, 0, sizeof *s);
  s->address = address;
  return s;
}

/* Site vector: 1 for the block, 2 and more for the device. */
void rt_fence(Warp *w, u32 mask, u32 site) {
  if (!mask) return;
  w->launch->stats[site].requests++;
  if (w->launch->sites[site].vector > 1) {
    free(w->fence_gvc);
    w->fence_gvc = knowledge(w);
    w->fenced = 1;
  }
  free(w->fence_block);
  w->fence_block = copied(w->vc, w->nwarps);
  w->fence_block[w->warpid] = w->clock;
  w->clock++;
  if (w->pending_gvc) {
    absorb(w, w->pending_gvc);
    free(w->pending_gvc);
    w->pending_gvc = 0;
  }
}

static void published(Warp *w, u64 address, u32 flags) {
  Launch *L = w->launch;
  Sync *s = 0;
  if (flags & RELEASE && !(flags & CTA)) {
    u32 *all = knowledge(w);
    s = sync_at(L, address, 1);
    if (s) join(&s->vc, all, L->total_warps);
    free(all);
    w->clock++;
  } else if (w->fenced) {
    s = sync_at(L, address, 1);
    if (s) join(&s->vc, w->fence_gvc, L->total_warps);
  }
  if (!(flags & RELEASE) && !w->fence_block) return;
  if (!s) s = sync_at(L, address, 1);
  if (!s) return;
  if (s->block != w->block->linear + 1) {
    free(s->block_vc);
    s->block_vc = 0, s->block = w->block->linear + 1;
  }
  if (flags & RELEASE) {
    u32 *own = copied(w->vc, w->nwarps);
    own[w->warpid] = w->clock++;
    join(&s->block_vc, own, w->nwarps);
    free(own);
  } else {
    join(&s->block_vc, w->fence_block, w->nwarps);
  }
}

static void observed(Warp *w, u64 address, int now) {
  Launch *L = w->launch;
  Sync *s = L->nsync ? sync_at(L, address, 0) : 0;
  if (!s) return;
  if (now) absorb(w, s->vc);
  else join(&w->pending_gvc, s->vc, L->total_warps);
  if (s->block == w->block->linear + 1 && s->block_vc) block_known(w, s->block_vc);
}

/* -- races -------------------------------------------------------------------------------------- */

static void race(Warp *w, u32 lane, u32 site, u32 access, const Place *P, u64 address, u32 size,
                 u32 severity, Stamp other, u32 other_access, u32 code) {
  Fault *f = report(w, RACE, severity, site, lane, access, P->space, P->buffer, address, size, 1);
  if (!f || f->has_other) return;
  name_other(w, f, other, other_access);
  f->code = code;
}

static void against(Warp *w, u32 lane, u32 site, u32 access, u32 strong, const Place *P, u64 a,
                    u32 size, Stamp other, u32 other_access, int other_strong, int same_value,
                    int same_instruction) {
  enum Relation r = relation(w, lane, other, P->space);
  if (r == ORDERED) return;
  if (access == ATOMIC && other_access == ATOMIC) return;
  u32 severity = r == SAME_WARP ? WARNING : ERROR;
  int both_write = access != READ && other_access != READ;
  if (same_instruction && both_write && !same_value) severity = ERROR;
  if (both_write && same_value && access == WRITE && other_access == WRITE) severity = NOTE;
  if (access == ATOMIC || other_access == ATOMIC) {
    int weak_read = access == READ ? !strong : other_access == READ ? !other_strong : 1;
    if (!weak_read) severity = NOTE;
  } else if (strong && other_strong && w->launch->nsync && sync_at(w->launch, a, 0)) {
    /* Volatile accesses to a flag that is set behind a fence: a protocol, not a slip. */
    return;
  }
  race(w, lane, site, access, P, a, size, severity, other, other_access,
       (u32)(r | (same_value ? 16 : 0)));
}

static void race_access(Warp *w, u32 lane, u32 site, u32 access, u32 flags, const Place *P, u64 a,
                        u32 size, int same_value) {
  Shadow *s = P->shadow;
  if (!s || !s->size || P->local) return;
  Launch *L = w->launch;
  Cell *c = cells(s, P->offset, size);
  u32 n = size >> s->shift ? size >> s->shift : 1;
  Stamp now = {thread_of(w, lane), w->clock, call_site(w, lane, site)};
  u32 strong = flags & (VOLATILE | RELAXED | ACQUIRE | RELEASE) ? 1 : 0;
  for (u32 k = 0; k < n; k++, c++) {
    /* The common cells: untouched, or this thread's own. */
    if (access == READ && !(c->flags & ~(u32)HAS_WRITE) &&
        (!c->flags || c->write.thread == now.thread)) {
      c->read = now;
      c->flags |= HAS_READ | (strong ? READ_VOLATILE : 0);
      continue;
    }
    if (access == WRITE && (!c->flags || (!(c->flags & (IN_FLIGHT | HAS_ATOMIC)) && !c->more &&
                                          (!(c->flags & HAS_READ) || c->read.thread == now.thread) &&
                                          (!(c->flags & HAS_WRITE) || c->write.thread == now.thread)))) {
      c->write = now, c->serial = w->serial;
      c->flags = HAS_WRITE | (strong ? WRITE_VOLATILE : 0);
      continue;
    }
    if (c->flags & IN_FLIGHT) {
      Fault *f = report(w, STALE_COPY, ERROR, site, lane, access, P->space, P->buffer, a, size, 1);
      if (f && !f->has_other) name_other(w, f, c->write, WRITE);
      continue;
    }
    if (c->flags & HAS_WRITE && c->write.thread != now.thread) {
      int same_instruction = access == WRITE && c->serial == w->serial &&
                             c->write.site == now.site && relation(w, lane, c->write, P->space) == SAME_WARP;
      against(w, lane, site, access, strong, P, a, size, c->write, WRITE,
              (c->flags & WRITE_VOLATILE) != 0, same_value, same_instruction);
    }
    if (c->flags & HAS_ATOMIC && access != ATOMIC && c->atomic.thread != now.thread)
      against(w, lane, site, access, strong, P, a, size, c->atomic, ATOMIC, 1, same_value, 0);
    if (access == READ) {
      if (c->flags & HAS_READ && c->read.thread != now.thread &&
          relation(w, lane, c->read, P->space) != ORDERED) {
        /* Keep one reader per warp beside the first. */
        Reader *r = c->more;
        while (r && r->at.thread / LANES != now.thread / LANES) r = r->next;
        if (r) {
          r->at = now;
        } else {
          r = arena(L, sizeof *r);
          r->at = now, r->next = c->more, c->more = r;
        }
      } else {
        c->read = now;
        c->flags = (c->flags & ~(u32)READ_VOLATILE) | HAS_READ | (strong ? READ_VOLATILE : 0);
      }
      continue;
    }
    if (c->flags & HAS_READ) {
      int read_strong = (c->flags & READ_VOLATILE) != 0;
      if (c->read.thread != now.thread)
        against(w, lane, site, access, strong, P, a, size, c->read, READ, read_strong, 0, 0);
      for (Reader *r = c->more; r; r = r->next)
        if (r->at.thread != now.thread)
          against(w, lane, site, access, strong, P, a, size, r->at, READ, read_strong, 0, 0);
    }
    if (access == ATOMIC) {
      c->atomic = now;
      c->flags |= HAS_ATOMIC;
      continue;
    }
    c->write = now;
    c->serial = w->serial;
    c->more = 0;
    c->flags = HAS_WRITE | (strong ? WRITE_VOLATILE : 0);
  }
}

/* -- initialisation ------------------------------------------------------------------------------ */

static inline u8 *init_byte(Warp *w, const Place *P, u32 lane, u32 k) {
  if (P->local) {
    u64 o = P->offset + k;
    return w->local_init + (o / 4 * LANES + lane) * 4 + o % 4;
  }
  return P->shadow && P->shadow->init ? P->shadow->init + P->offset + k : 0;
}

static void undefined_load(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size) {
  w->origin_site[lane] = call_site(w, lane, site) + 1;
  w->origin_buffer[lane] = P->buffer, w->origin_space[lane] = P->space;
  w->origin_address[lane] = a, w->origin_size[lane] = size;
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
  u32 counted = S->space;
  LANE_LOOP(mask, l) {
    Place P;
    u64 a = w->addr[l] + add;
    enum Trouble t = resolve(w, a, size, l, 0, &P);
    counted = P.space;
    if (t) {
      trouble(w, t, mask, site, l, READ, &P, a, size);
      poison(w, l, elem, vec);
      continue;
    }
    lane_get(w, &P, l, elem, vec);
    u8 *init = init_byte(w, &P, l, 0);
    if (init && (P.local || !all_ones(init, size))) {
      u32 bad = 0;
      for (u32 k = 0; k < size; k++)
        if (!*init_byte(w, &P, l, k)) out[k] |= 1u << l, bad++;
      if (bad) undefined_load(w, l, site, &P, a, size);
    }
    if (tracked(&P)) race_access(w, l, site, READ, S->flags, &P, a, size, 0);
    if (S->flags & (VOLATILE | RELAXED | ACQUIRE)) observed(w, a, S->flags & ACQUIRE);
  }
  count_access(w, stat, mask, counted, add, size, S->flags, 0, contiguous, same);
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
  u32 counted = S->space, undefined = 0;
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
    enum Trouble t = resolve(w, a, size, l, 1, &P);
    counted = P.space;
    if (t) {
      trouble(w, t, mask, site, l, WRITE, &P, a, size);
      continue;
    }
    u32 bad = 0;
    for (u32 k = 0; k < size && undefined >> l & 1; k++) bad += in[k] >> l & 1;
    if (bad == size && P.space == GLOBAL) {
      rt_uninitialised(w, 1u << l, site);
      bad = 0;
    } else if (bad == size && P.space == SHARED && w->origin_site[l]) {
      report(w, UNINITIALISED, NOTE, w->origin_site[l] - 1, l, READ, w->origin_space[l],
             w->origin_buffer[l], w->origin_address[l], w->origin_size[l], 1);
    }
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
  count_access(w, stat, mask, counted, add, size, S->flags, 1, contiguous, same);
}

/* Returns whether the old value was undefined. */
static int shadow_atomic(Warp *w, u32 lane, u32 site, const Place *P, u64 a, u32 size) {
  const Site *S = &w->launch->sites[site];
  int bad = 0;
  for (u32 k = 0; k < size; k++) {
    u8 *i = init_byte(w, P, lane, k);
    if (i && !*i) bad = 1, *i = 1;
  }
  w->serial++;
  if (bad && (S->vector & 15) != 6) {
    undefined_load(w, lane, site, P, a, size);
    rt_uninitialised(w, 1u << lane, site);
  }
  if (tracked(P)) race_access(w, lane, site, ATOMIC, S->flags | RELAXED, P, a, size, 0);
  observed(w, a, 1);
  published(w, a, S->flags);
  return 0;
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
