/* Asynchronous copies, and the matrices that a warp loads, stores and multiplies. */

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
    enum Trouble t = resolve_in(w, SHARED, to, size, l, 1, &D);
    if (t) {
      trouble(w, t, mask, site, l, WRITE, &D, to, size);
      continue;
    }
    u8 value[16] = {0};
    if (n) {
      t = resolve_in(w, GLOBAL, from[l], n, l, 0, &G);
      /* The whole copy is aligned, not the part of it that is read. */
      if (t == UNALIGNED && from[l] % size == 0) t = G.p ? FINE : OUTSIDE;
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
  if (!mask) return;
  /* wait_all waits also for what no group holds yet. */
  u32 lane = (u32)__builtin_ctz(mask), all = S->flags & 1;
  if (all) fold(w), later(&w->chain, w->copied[w->groups[lane] & 7]);
  copies_arrived(w, lane, all ? 0 : S->vector);
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
    enum Trouble t = resolve_in(w, SHARED, a, 16, l, 0, &P);
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
    enum Trouble t = resolve_in(w, SHARED, a, 16, l, 1, &P);
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
