/* Warps, blocks and the grid: who runs next, who waits, and when nobody can go on. */

static void note_where(Warp *w, u32 lane, u32 *block, u32 *thread) {
  for (int k = 0; k < 3; k++) {
    block[k] = w->ctaid[k];
    thread[k] = w->tid[k][lane];
  }
}

/* The site as the lane's calls reach it, so that code of a library names its caller. */
static u32 call_site(Warp *w, u32 lane, u32 site) {
  Launch *L = w->launch;
  u32 depth = w->depth[lane];
  if (!depth || site >= L->nsites) return site;
  CallSite c = {site, depth < 12 ? depth : 12, {0}};
  for (u32 k = 0; k < c.depth; k++) c.back[k] = w->stack[(depth - 1 - k) * LANES + lane];
  for (u64 k = L->ncall_sites; k-- > 0;)
    if (!memcmp(&L->call_sites[k], &c, sizeof c)) return (u32)(L->nsites + k);
  if (L->ncall_sites == MAX_CALL_SITES) return site;
  L->call_sites[L->ncall_sites] = c;
  return (u32)(L->nsites + L->ncall_sites++);
}

static Fault *report(Warp *w, u32 kind, u32 severity, u32 site, u32 lane, u32 access, u32 space,
                     u32 buffer, u64 address, u32 size, u32 count) {
  Launch *L = w->launch;
  site = call_site(w, lane, site);
  for (u64 k = 0; k < L->nfaults; k++) {
    Fault *f = &L->faults[k];
    if (f->kind == kind && f->site == site && f->buffer == buffer && f->severity == severity &&
        f->access == access) {
      f->count += count;
      return f;
    }
  }
  if (L->nfaults >= L->max_faults) return 0;
  Fault *f = &L->faults[L->nfaults++];
  memset(f, 0, sizeof *f);
  f->kind = kind, f->severity = severity, f->site = site, f->access = access, f->space = space;
  f->buffer = buffer, f->address = address, f->size = size, f->count = count;
  note_where(w, lane, f->block, f->thread);
  return f;
}

static void stop(Warp *w, u32 ended, u32 site, u32 lane) {
  Launch *L = w->launch;
  if (L->stop) return;
  L->stop = 1, L->ended = ended, L->ended_site = call_site(w, lane, site);
  note_where(w, lane, L->ended_block, L->ended_thread);
}

#define LANE_LOOP(mask, l) \
  for (u32 rest_##l = (mask), l; rest_##l && (l = (u32)__builtin_ctz(rest_##l), 1); rest_##l &= rest_##l - 1)

static void set_pc(Warp *w, u32 mask, u32 block) {
  for (u32 l = 0; l < LANES; l++) w->pc[l] = mask >> l & 1 ? block : w->pc[l];
}

/* Lanes that left or went elsewhere although code that follows `block` on every path has run. */
static u32 ran_past(Warp *w, u32 lanes, u32 block) {
  Launch *L = w->launch;
  u32 out = 0;
  if (!L->pd_offsets || !w->visited) return 0;
  for (u32 k = L->pd_offsets[block]; k < L->pd_offsets[block + 1]; k++)
    out |= w->visited[L->pd_list[k]];
  return out & lanes;
}

/* -- barriers ---------------------------------------------------------------------------------- */

static void barrier_joined(Block *B, Barrier *b);

static u32 barrier_arrivals(Block *B, Barrier *b) {
  /* With a thread count, a warp counts whole once all its live lanes are there. */
  u32 n = 0;
  for (u32 k = 0; k < B->nwarps; k++) {
    Warp *w = B->warps[k];
    if (b->mask[k] && (b->mask[k] & w->live) == w->live) n += LANES;
  }
  return n;
}

static void barrier_complete(Block *B, u32 id) {
  Barrier *b = &B->barriers[id];
  Launch *L = B->warps[0]->launch;
  u32 result = b->red_kind == 2 ? (b->red_and ? ALL : 0) : b->red_kind == 3 ? (b->red_or ? ALL : 0)
                                                                         : b->red_count;
  u32 early = 0, past = 0, early_warp = 0, past_warp = 0;
  Warp *first = 0;
  for (u32 k = 0; k < B->nwarps; k++)
    if (b->mask[k] && !first) first = B->warps[k];
  if (b->expected == ALL && first && L->checks) {
    u32 lane = (u32)__builtin_ctz(b->mask[first->warpid]);
    for (u32 k = 0; k < B->nwarps; k++) {
      Warp *w = B->warps[k];
      u32 gone = w->first_live & ~b->mask[k];
      if (!gone) continue;
      u32 p = ran_past(w, gone, L->sites[b->site].block);
      for (u32 d = 0; d < first->depth[lane] && !p; d++)
        p = ran_past(w, gone, first->stack[d * LANES + lane]) |
            (w->visited[first->stack[d * LANES + lane]] & gone);
      if (p && !past) past = p, past_warp = k;
      if (gone & ~p && !early) early = gone & ~p, early_warp = k;
    }
    if (past) {
      Fault *f = report(B->warps[past_warp], BAD_BARRIER, ERROR, b->site,
                        (u32)__builtin_ctz(past), READ, GENERIC, 0, 0, 0, 1);
      if (f) f->code = 1;
    } else if (early) {
      report(B->warps[early_warp], EARLY_EXIT, b->flags & EVERY_THREAD ? ERROR : WARNING, b->site,
             (u32)__builtin_ctz(early), READ, GENERIC, 0, 0, 0, 1);
    }
  }
  if (b->mixed && first) {
    u32 lane = (u32)__builtin_ctz(b->mask[first->warpid]);
    Fault *f = report(first, BAD_BARRIER, ERROR, b->site, lane, READ, GENERIC, 0, 0, 0, 1);
    if (f) f->code = 2, f->has_other = 1, f->other_site = b->other_site;
  }
  L->barriers++;
  if (L->checks) barrier_joined(B, b);
  for (u32 k = 0; k < B->nwarps; k++) {
    Warp *w = B->warps[k];
    u32 awake = 0;
    for (u32 l = 0; l < LANES; l++) awake |= (u32)(w->barrier_id[l] == id) << l;
    awake &= b->mask[k] & w->wait_barrier;
    w->wait_barrier &= ~awake;
    w->waiting = w->wait_barrier | w->wait_sync;
    w->barrier_result = result;
    b->mask[k] = 0;
  }
  u32 *mask = b->mask;
  memset(b, 0, sizeof *b);
  b->mask = mask;
}

static void barrier_check(Block *B, u32 id) {
  Barrier *b = &B->barriers[id];
  if (!b->arrived) return;
  if (b->expected == ALL) {
    if (b->sync_seen && b->arrived >= B->live) barrier_complete(B, id);
  } else if (barrier_arrivals(B, b) >= b->expected) {
    barrier_complete(B, id);
  }
}

void rt_barrier(Warp *w, u32 mask, u32 site) {
  Block *B = w->block;
  Site *S = &w->launch->sites[site];
  u32 kind = S->vector & 15;
  if (!mask) return;
  u32 lane = (u32)__builtin_ctz(mask);
  u32 id = w->scratch[0][lane] & 15, count = w->scratch[1][lane];
  Barrier *b = &B->barriers[id];
  if (!b->arrived) b->site = site, b->expected = count, b->red_and = 1;
  else if (b->site != site && kind != 1 && !b->mixed &&
           (w->launch->sites[b->site].vector & 15) != 1)
    b->mixed = 1, b->other_site = site;
  b->flags |= S->vector & ~15u;
  b->arrived += (u32)__builtin_popcount(mask & ~b->mask[w->warpid]);
  b->mask[w->warpid] |= mask;
  if (kind != 1) {
    b->sync_seen = 1;
    w->wait_barrier |= mask;
    w->waiting |= mask;
    for (u32 l = 0; l < LANES; l++) w->barrier_id[l] = mask >> l & 1 ? id : w->barrier_id[l];
  }
  if (kind >= 2) {
    u32 yes = w->scratch[2][lane] & mask;
    b->red_kind = kind;
    b->red_count += (u32)__builtin_popcount(yes);
    b->red_and &= yes == mask;
    b->red_or |= yes != 0;
  }
  w->launch->stats[site].requests++;
  barrier_check(B, id);
}

void rt_exit(Warp *w, u32 mask, u32 site) {
  (void)site;
  Block *B = w->block;
  w->live &= ~mask;
  B->live -= (u32)__builtin_popcount(mask);
  if (B->live)
    for (u32 id = 0; id < 16; id++) barrier_check(B, id);
}

/* -- calls ------------------------------------------------------------------------------------- */

#define MAX_DEPTH 256

typedef struct { u32 left; u32 bytes; u32 count; u32 pad; const u32 *table; u8 data[]; } Frame;

static Frame *frame_save(Warp *w, const u32 *table, u32 n, u32 lanes) {
  usize bytes = 0;
  for (u32 k = 0; k < n; k++) bytes += table[2 * k + 1] ? 32u * table[2 * k + 1] : 4;
  Frame *f = malloc(sizeof(Frame) + bytes);
  f->left = (u32)__builtin_popcount(lanes), f->count = n, f->table = table;
  u8 *to = f->data;
  for (u32 k = 0; k < n; k++) {
    usize size = table[2 * k + 1] ? 32u * table[2 * k + 1] : 4;
    memcpy(to, (u8 *)w + table[2 * k], size);
    to += size;
  }
  return f;
}

static void frame_restore(Warp *w, Frame *f, u32 lane) {
  u8 *from = f->data;
  for (u32 k = 0; k < f->count; k++) {
    u8 *at = (u8 *)w + f->table[2 * k];
    u32 width = f->table[2 * k + 1];
    if (width) {
      memcpy(at + lane * width, from + lane * width, width);
      from += 32u * width;
    } else {
      u32 now, then, bit = 1u << lane;
      memcpy(&now, at, 4), memcpy(&then, from, 4);
      now = (now & ~bit) | (then & bit);
      memcpy(at, &now, 4);
      from += 4;
    }
  }
  if (--f->left == 0) free(f);
}

void rt_call(Warp *w, u32 mask, u32 callee, u32 back, const u32 *table, u32 n) {
  Launch *L = w->launch;
  if (!w->stack) {
    w->stack = calloc(MAX_DEPTH * LANES, sizeof(u32));
    w->frames = calloc(MAX_DEPTH * LANES, sizeof(void *));
  }
  Frame *f = n ? frame_save(w, table, n, mask) : 0;
  LANE_LOOP(mask, l) {
    u32 target = callee;
    if (callee == ALL) {
      u64 a = ((u64 *)w->scratch)[l];
      u64 offset = a - BASE(FUNCTION_SLOT);
      if (a >> SLOT_BITS != FUNCTION_SLOT || offset >= L->nblocks) {
        stop(w, UNSUPPORTED, w->event, l);
        return;
      }
      target = (u32)offset;
    }
    if (w->depth[l] >= MAX_DEPTH) {
      Fault *r = report(w, OUT_OF_BOUNDS, ERROR, w->event, l, WRITE, LOCAL, 0, 0, 0, 1);
      if (r) r->code = 3;
      stop(w, ENDED_TRAP, w->event, l);
      return;
    }
    w->stack[w->depth[l] * LANES + l] = back;
    w->frames[w->depth[l] * LANES + l] = f;
    w->depth[l]++;
    w->pc[l] = target;
  }
}

void rt_return(Warp *w, u32 mask) {
  LANE_LOOP(mask, l) {
    u32 d = --w->depth[l];
    w->pc[l] = w->stack[d * LANES + l];
    Frame *f = w->frames[d * LANES + l];
    if (f) frame_restore(w, f, l);
  }
}

void rt_table_branch(Warp *w, u32 mask, const u32 *table, u32 n) {
  LANE_LOOP(mask, l) {
    u32 k = w->scratch[0][l];
    w->pc[l] = table[k < n ? k : n - 1];
  }
}

/* -- one warp ---------------------------------------------------------------------------------- */

enum Status { DONE, WAITING, YIELD, STOPPED };

static void choose(Warp *w, u32 runnable) {
  u32 best = ALL, after = ALL, first = w->pc[__builtin_ctz(runnable)], apart = 0;
  for (u32 l = 0; l < LANES; l++) apart |= (w->pc[l] ^ first) & (0 - (runnable >> l & 1));
  if (!apart) {
    w->rotate = 0;
    w->next = first, w->mask = runnable, w->pend = ALL;
    return;
  }
  LANE_LOOP(runnable, l) {
    u32 p = w->pc[l];
    if (p < best) best = p;
    if (w->rotate && p > w->next && p < after) after = p;
  }
  u32 pick = w->rotate && after != ALL ? after : best;
  u32 mask = 0, pend = ALL;
  LANE_LOOP(runnable, l) {
    u32 p = w->pc[l];
    if (p == pick) mask |= 1u << l;
    else if (p < pend) pend = p;
  }
  /* Out of turn: run up to the next point where the lowest would be chosen again. */
  w->rotate = 0;
  w->next = pick, w->mask = mask, w->pend = pick == best ? pend : ALL;
}

static enum Status run_warp(Warp *w) {
  Launch *L = w->launch;
  for (;;) {
    if (L->stop) return STOPPED;
    u32 runnable = w->live & ~w->waiting;
    if (!runnable) return w->live ? WAITING : DONE;
    if (w->budget < 0) {
      L->fuel -= L->quantum - w->budget;
      w->budget = L->quantum;
      w->rotate = 1;
      if (L->fuel < 0) {
        stop(w, ENDED_FUEL, L->nsites, (u32)__builtin_ctz(runnable));
        L->ended_site = w->pc[__builtin_ctz(runnable)];
        return STOPPED;
      }
      return YIELD;
    }
    choose(w, runnable);
    L->table[w->next](w);
  }
}

/* -- warp-wide waits --------------------------------------------------------------------------- */

static void warp_ordered(Warp *w, u32 mask, u32 flags);
static void forget_order(Warp *w);
static void free_order(Warp *w);

u32 rt_warp_sync(Warp *w, u32 mask, u32 site) {
  u32 here = w->next, arrived = mask, group = 0;
  LANE_LOOP(mask, l) {
    w->sync_need[l] = w->scratch[63][l];
    w->pc[l] = here;
  }
  LANE_LOOP(w->wait_sync, l) if (w->pc[l] == here) arrived |= 1u << l;
  /* Lanes go on when all that their own mask names are here, one mask after the other: parts of a
     warp neither wait for one another nor take part in each other's operation. */
  u32 ready = 0;
  LANE_LOOP(arrived, l) if (!(w->sync_need[l] & w->live & ~arrived)) ready |= 1u << l;
  u32 going = ready ? ready : w->forced ? arrived : 0;
  LANE_LOOP(going, l)
    if (w->sync_need[l] == w->sync_need[__builtin_ctz(going)]) group |= 1u << l;
  w->wait_sync = (w->wait_sync & ~arrived) | (arrived & ~ready & ~group);
  w->waiting = w->wait_barrier | w->wait_sync;
  if (!group) return 0;
  w->forced = 0;
  u32 outside = 0;
  LANE_LOOP(group, l) if (!(w->sync_need[l] >> l & 1)) outside |= 1u << l;
  if (outside) {
    Fault *f = report(w, WARP_MASK, ERROR, site, (u32)__builtin_ctz(outside), READ, GENERIC, 0,
                      w->sync_need[__builtin_ctz(outside)], 0, (u32)__builtin_popcount(outside));
    if (f) f->code = 1;
  }
  u32 gone = (w->first_live & ~w->live) | (w->live & ~arrived), naming = 0;
  LANE_LOOP(group, l) if (w->sync_need[l] & gone) naming |= 1u << l;
  if (naming) {
    u32 lane = (u32)__builtin_ctz(naming);
    Fault *f = report(w, WARP_MASK, ERROR, site, lane, READ, GENERIC, 0, w->sync_need[lane], 0,
                      (u32)__builtin_popcount(naming));
    if (f && !f->code) f->code = 2, f->other_thread = w->sync_need[lane] & gone;
  }
  u32 pend = ALL;
  LANE_LOOP(w->live & ~w->waiting & ~group, l) if (w->pc[l] < pend) pend = w->pc[l];
  w->pend = pend;
  return group;
}

/* Nothing in the block can go on: let the lowest warp-wide wait through without the absent. */
static int force_warp_wait(Block *B) {
  for (u32 k = 0; k < B->nwarps; k++) {
    Warp *w = B->warps[k];
    if (!w->wait_sync) continue;
    u32 best = ALL;
    LANE_LOOP(w->wait_sync, l) if (w->pc[l] < best) best = w->pc[l];
    LANE_LOOP(w->wait_sync, l) if (w->pc[l] == best) w->wait_sync &= ~(1u << l);
    w->waiting = w->wait_barrier | w->wait_sync;
    w->forced = 1;
    return 1;
  }
  return 0;
}

/* -- one block --------------------------------------------------------------------------------- */

static void block_free(Launch *L, Block *B);
static void shadow_block_start(Launch *L, Block *B);

static void warp_free(Launch *L, Warp *w) {
  if (w->stack) {
    for (u32 l = 0; l < LANES; l++)
      for (u32 d = 0; d < w->depth[l]; d++) {
        Frame *f = w->frames[d * LANES + l];
        if (f && --f->left == 0) free(f);
      }
    free(w->stack), free(w->frames);
  }
  (void)L;
  free(w->local), free(w->local_init), free(w->visited), free_order(w);
  free(w->gvc), free(w->fence_gvc), free(w->pending_gvc), free(w->fence_block), free(w->async), free(w);
}

/* The lanes of a warp that are threads of the grid. */
static u32 existing(Launch *L, Block *B, Warp *w) {
  u32 lanes = 0;
  for (u32 l = 0; l < LANES && w->warpid * LANES + l < L->threads_per_block; l++) {
    int there = 1;
    for (int a = 0; a < 3 && L->exact[0]; a++)
      there &= (u64)B->ctaid[a] * L->block[a] + w->tid[a][l] < L->exact[a];
    if (there) lanes |= 1u << l;
  }
  return lanes;
}

static Warp *warp_new(Launch *L, Block *B, u32 k, Warp *w) {
  if (!w) {
    usize size = (W_REGS + L->register_bytes + 63) / 64 * 64;
    void *p = 0;
    /* malloc gives 16-byte alignment; vectors want 64. */
    extern int posix_memalign(void **, usize, usize);
    if (posix_memalign(&p, 64, size)) return 0;
    w = p;
    memset(w, 0, W_REGS);
    w->local = L->local_bytes ? calloc(LANES, L->local_bytes) : 0;
    if (L->checks) {
      w->local_init = L->local_bytes ? calloc(LANES, L->local_bytes) : 0;
      w->visited = calloc(L->nblocks, sizeof(u32));
      w->vc = calloc(B->nwarps, sizeof(u32));
      w->lane_vc = calloc(LANES, sizeof *w->lane_vc);
    }
    w->counters = L->counters, w->params = L->params, w->launch = L;
    for (int a = 0; a < 3; a++) w->ntid[a] = L->block[a], w->nctaid[a] = L->grid[a];
    w->nwarps = B->nwarps, w->dynamic_shared = L->dynamic_shared;
    w->warpid = k;
    for (u32 l = 0; l < LANES; l++) {
      u32 t = k * LANES + l;
      w->tid[0][l] = t % L->block[0];
      w->tid[1][l] = t / L->block[0] % L->block[1];
      w->tid[2][l] = t / (L->block[0] * L->block[1]);
    }
  } else if (L->checks) {
    if (L->local_bytes) memset(w->local_init, 0, (usize)LANES * L->local_bytes);
    memset(w->visited, 0, L->nblocks * sizeof(u32));
    forget_order(w);
    free(w->gvc), free(w->fence_gvc), free(w->pending_gvc), free(w->fence_block);
    w->gvc = w->fence_gvc = w->pending_gvc = w->fence_block = 0;
  }
  w->first_live = existing(L, B, w);
  u8 *regs = (u8 *)w + W_REGS;
  memset(regs, 0, L->zero_bytes);
  if (L->checks) memset(regs + L->zero_bytes, 0xff, L->register_bytes - L->zero_bytes);
  w->live = w->first_live;
  w->waiting = w->wait_barrier = w->wait_sync = w->rotate = w->forced = w->next = 0;
  w->budget = L->quantum;
  w->clock = 1, w->fenced = 0;
  w->async_count = 0;
  memset(w->origin_site, 0, sizeof w->origin_site);
  memset(w->groups, 0, sizeof w->groups);
  memset(w->depth, 0, sizeof w->depth);
  w->block = B;
  for (int a = 0; a < 3; a++) w->ctaid[a] = B->ctaid[a];
  w->gid = B->linear * B->nwarps + k;
  w->smid = B->linear % 108;
  extern u32 entry_block(Launch *);
  set_pc(w, ALL, entry_block(L));
  return w;
}

u32 entry_block(Launch *L) { return L->started; }

static Block *block_new(Launch *L, u64 linear, Block *B) {
  u32 nwarps = (L->threads_per_block + LANES - 1) / LANES;
  int fresh = !B;
  if (fresh) {
    B = calloc(1, sizeof(Block));
    B->nwarps = nwarps;
    B->warps = calloc(nwarps, sizeof(Warp *));
    u32 *masks = calloc(16 * nwarps, sizeof(u32));
    for (u32 id = 0; id < 16; id++) B->barriers[id].mask = masks + id * nwarps;
    B->shared = calloc(1, L->shared_bytes + 64);
  } else if (L->checks) {
    memset(B->shared, 0, L->shared_bytes);
  }
  B->linear = (u32)linear;
  B->ctaid[0] = (u32)(linear % L->grid[0]);
  B->ctaid[1] = (u32)(linear / L->grid[0] % L->grid[1]);
  B->ctaid[2] = (u32)(linear / ((u64)L->grid[0] * L->grid[1]));
  B->live = 0, B->done = B->yielded = 0;
  for (u32 id = 0; id < 16; id++) {
    u32 *mask = B->barriers[id].mask;
    memset(&B->barriers[id], 0, sizeof(Barrier));
    B->barriers[id].mask = mask;
    memset(mask, 0, nwarps * sizeof(u32));
  }
  memset(B->l1_tags, 0, sizeof B->l1_tags);
  for (u32 k = 0; k < nwarps; k++) {
    B->warps[k] = warp_new(L, B, k, fresh ? 0 : B->warps[k]);
    B->live += (u32)__builtin_popcount(B->warps[k]->first_live);
  }
  if (L->checks) shadow_block_start(L, B);
  return B;
}

static void block_free(Launch *L, Block *B) {
  for (u32 k = 0; k < B->nwarps; k++) warp_free(L, B->warps[k]);
  free(B->warps), free(B->barriers[0].mask), free(B->shared);
  shadow_free(&B->shared_shadow);
  free(B);
}

static void settle(Launch *L, Block *B) {
  for (u32 k = 0; k < B->nwarps; k++) {
    Warp *w = B->warps[k];
    L->fuel -= L->quantum - w->budget;
    w->budget = L->quantum;
  }
}

/* Run a block until it is done (1), wants to let others run (0), or the launch stops (-1). */
static int run_block(Launch *L, Block *B) {
  for (;;) {
    u32 left = 0, ran = 0, spinning = 0;
    for (u32 n = 0; n < B->nwarps; n++) {
      u32 k = L->reversed ? B->nwarps - 1 - n : n;
      Warp *w = B->warps[k];
      if (!w->live) continue;
      if (!(w->live & ~w->waiting)) {
        left++;
        continue;
      }
      ran = 1;
      enum Status s = run_warp(w);
      if (s == STOPPED) return -1;
      if (s == YIELD) spinning++;
      if (s != DONE) left++;
    }
    if (!left) {
      settle(L, B);
      return 1;
    }
    if (spinning && spinning == left) return 0;
    u32 runnable = 0;
    for (u32 k = 0; k < B->nwarps; k++) runnable |= B->warps[k]->live & ~B->warps[k]->waiting;
    if (!runnable && !force_warp_wait(B)) {
      Warp *last = 0;
      u32 waits = 0;
      for (u32 id = 0; id < 16; id++) waits += B->barriers[id].arrived != 0;
      for (u32 id = 0; id < 16; id++) {
        Barrier *b = &B->barriers[id];
        for (u32 k = 0; k < B->nwarps && b->arrived; k++) {
          Warp *w = B->warps[k];
          if (!(b->mask[k] & w->wait_barrier)) continue;
          u32 lane = (u32)__builtin_ctz(b->mask[k] & w->wait_barrier);
          last = w;
          Fault *f = report(w, DEADLOCK, ERROR, b->site, lane, READ, GENERIC, 0, 0, 0, 1);
          for (u32 j = 0; f && waits > 1 && j < 16; j++)
            if (j != id && B->barriers[j].arrived)
              f->has_other = 1, f->other_site = B->barriers[j].site;
          break;
        }
      }
      if (last) stop(last, ENDED_DEADLOCK, B->barriers[last->barrier_id[__builtin_ctz(last->wait_barrier)]].site,
                     (u32)__builtin_ctz(last->wait_barrier));
      return -1;
    }
    if (spinning && !ran) return 0;
    if (spinning && runnable) {
      /* Warps spin while others wait for them: let other blocks run too. */
      u32 others = 0;
      for (u32 k = 0; k < B->nwarps; k++) others |= B->warps[k]->live & ~B->warps[k]->waiting;
      if (others) return 0;
    }
  }
}

/* -- the grid ---------------------------------------------------------------------------------- */

void rt_launch(Launch *L, u32 entry) {
  u64 total = (u64)L->grid[0] * L->grid[1] * L->grid[2], next = 0;
  L->threads_per_block = L->block[0] * L->block[1] * L->block[2];
  L->total_warps = (u32)(total * ((L->threads_per_block + LANES - 1) / LANES));
  L->started = entry;
  L->stop = 0;
  i64 fuel = L->fuel;
  Block *queue = 0, *tail = 0, *spare = 0;
  u32 resident = 0;
  while (!L->stop && (next < total || queue)) {
    Block *B;
    if (next < total && (!queue || resident < L->resident)) {
      u64 at = L->reversed ? total - 1 - next : next;
      next++;
      B = block_new(L, at, spare);
      spare = 0;
      resident++;
    } else {
      B = queue;
      queue = B->next;
      if (!queue) tail = 0;
    }
    B->next = 0;
    int status = run_block(L, B);
    if (status == 0) {
      if (tail) tail->next = B;
      else queue = B;
      tail = B;
    } else {
      resident--;
      if (spare) block_free(L, spare);
      spare = B;
      if (status < 0) settle(L, B);
    }
    if (L->fuel < 0 && !L->stop && (next < total || queue)) {
      L->stop = 1, L->ended = ENDED_FUEL, L->ended_site = entry;
    }
  }
  L->instructions = (u64)(fuel - L->fuel);
  while (queue) {
    Block *B = queue;
    queue = B->next;
    block_free(L, B);
  }
  if (spare) block_free(L, spare);
  shadow_finish(L);
}

void rt_trap(Warp *w, u32 mask, u32 site) {
  u32 lane = (u32)__builtin_ctz(mask);
  report(w, TRAP, ERROR, site, lane, READ, GENERIC, 0, 0, 0, (u32)__builtin_popcount(mask));
  stop(w, ENDED_TRAP, site, lane);
}

void rt_unsupported(Warp *w, u32 mask, u32 site) {
  if (mask) stop(w, UNSUPPORTED, site, (u32)__builtin_ctz(mask));
}

/* An undefined value matters at `site`: name the load it came from where there was one. */
void rt_uninitialised(Warp *w, u32 mask, u32 site) {
  LANE_LOOP(mask, l) {
    u32 from = w->origin_site[l];
    Fault *f = from ? report(w, UNINITIALISED, ERROR, from - 1, l, READ, w->origin_space[l],
                             w->origin_buffer[l], w->origin_address[l], w->origin_size[l], 1)
                    : report(w, UNINITIALISED, ERROR, site, l, READ, GENERIC, 0, 0, 0, 1);
    if (f && from && !f->has_other) f->has_other = 2, f->other_site = site;
  }
}

u64 rt_clock(Warp *w) {
  Launch *L = w->launch;
  return (L->live_clock += 4) + (u64)(L->quantum - w->budget);
}
