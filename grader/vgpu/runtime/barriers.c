/* Barriers of a block: who has arrived, who never will. */

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
    if (awake) fold(w), later(&w->chain, b->chain), w->chain += L->latencies[BARRIER_LATENCY];
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
  fold(w), later(&b->chain, w->chain);
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
