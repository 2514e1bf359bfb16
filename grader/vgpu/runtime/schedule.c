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
  /* The lanes of one access mostly come from one place. */
  u32 last = w->last_call;
  if (last < L->ncall_sites && !memcmp(&L->call_sites[last], &c, sizeof c)) return (u32)L->nsites + last;
  for (u64 k = L->ncall_sites; k-- > 0;)
    if (!memcmp(&L->call_sites[k], &c, sizeof c)) {
      w->last_call = (u32)k;
      return (u32)(L->nsites + k);
    }
  if (L->ncall_sites == MAX_CALL_SITES) return site;
  L->call_sites[L->ncall_sites] = c;
  return (u32)(L->nsites + L->ncall_sites++);
}

/* Room for a finding where the table is full: that of the last one that weighs least, and less. */
static Fault *instead(Launch *L, u32 severity) {
  Fault *least = 0;
  for (u64 k = L->nfaults; k-- > 0;)
    if (L->faults[k].severity < severity) {
      least = &L->faults[k], severity = least->severity;
      if (severity == NOTE) break;
    }
  return least;
}

static Fault *record(Warp *w, u32 kind, u32 severity, u32 site, u32 lane, u32 access, u32 space,
                     u32 buffer, u64 address, u32 size, u32 count) {
  Launch *L = w->launch;
  Fault *f = L->nfaults < L->max_faults ? &L->faults[L->nfaults++] : instead(L, severity);
  if (!f) {
    L->lost_errors += severity == ERROR;
    return 0;
  }
  memset(f, 0, sizeof *f);
  f->kind = kind, f->severity = severity, f->site = site, f->access = access, f->space = space;
  f->buffer = buffer, f->address = address, f->size = size, f->count = count;
  note_where(w, lane, f->block, f->thread);
  return f;
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
  return record(w, kind, severity, site, lane, access, space, buffer, address, size, count);
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

#include "time.c"
#include "barriers.c"
#include "calls.c"

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
  free(w->local), free(w->local_init), free(w->local_origin), free(w->visited), free_order(w);
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
    free(w->local_origin), w->local_origin = 0;
    memset(w->visited, 0, L->nblocks * sizeof(u32));
    forget_order(w);
    free(w->gvc), free(w->fence_gvc), free(w->pending_gvc), free(w->fence_block);
    w->gvc = w->fence_gvc = w->pending_gvc = w->fence_block = 0;
  }
  w->first_live = existing(L, B, w);
  /* What another block left is in no case to be had: every block starts with the same. */
  if (L->local_bytes) memset(w->local, 0, (usize)LANES * L->local_bytes);
  u8 *regs = (u8 *)w + W_REGS;
  memset(regs, 0, L->zero_bytes);
  if (L->checks) memset(regs + L->zero_bytes, 0xff, L->register_bytes - L->zero_bytes);
  w->live = w->first_live;
  w->waiting = w->wait_barrier = w->wait_sync = w->rotate = w->forced = w->next = 0;
  w->budget = L->quantum;
  w->clock = 1, w->fenced = w->fence_is_new = 0;
  w->async_count = 0;
  warp_clear_time(w);
  memset(w->origin, 0, sizeof w->origin);
  memset(w->origin_kept, 0, sizeof w->origin_kept);
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
  } else {
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
  memset(B->l1_tags, 0, (L->l1_mask + 1) * sizeof *B->l1_tags);
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
      block_time(L, B);
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
    const Origin *o = &w->origin[l];
    u32 from = o->site;
    Fault *f = from ? report(w, UNINITIALISED, ERROR, from - 1, l, READ, o->space, o->buffer,
                             o->address, o->size, 1)
                    : report(w, UNINITIALISED, ERROR, site, l, READ, GENERIC, 0, 0, 0, 1);
    if (f && from && !f->has_other) f->has_other = 2, f->other_site = site;
  }
}

u64 rt_clock(Warp *w) {
  Launch *L = w->launch;
  return (L->live_clock += 4) + (u64)(L->quantum - w->budget);
}
