/* Which accesses something orders. */

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

/* What any thread fenced before the barrier is fenced for all of them behind it: a flag that one
   thread sets then publishes the writes of the others too. */
static void fences_joined(Block *B, Barrier *b) {
  u32 n = B->nwarps, total = B->warps[0]->launch->total_warps, is_new = 0, *far = 0, *near = 0;
  for (u32 j = 0; j < n; j++)
    if (b->mask[j]) is_new |= B->warps[j]->fence_is_new;
  if (!is_new) return;
  for (u32 j = 0; j < n; j++) {
    if (!b->mask[j]) continue;
    join(&far, B->warps[j]->fence_gvc, total);
    join(&near, B->warps[j]->fence_block, n);
  }
  for (u32 j = 0; j < n; j++) {
    if (!b->mask[j]) continue;
    Warp *w = B->warps[j];
    join(&w->fence_gvc, far, total);
    join(&w->fence_block, near, n);
    w->fenced |= far != 0;
    w->fence_is_new = 0;
  }
  free(far), free(near);
}

static void barrier_joined(Block *B, Barrier *b) {
  if (!(b->flags & NOT_GLOBAL)) fences_joined(B, b);
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
  w->fence_is_new = 1;
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
