/* The modelled time of a warp: `chain`, the clocks of its own since its block began.

   Generated code adds those of a block of instructions. Loads that the block waits for overlap
   where they have one slot of `wait`: the longest of them counts. Loads that other blocks wait for,
   and asynchronous copies, have a time at which they are there. */

static inline void fold(Warp *w) {
  u32 clocks = 0;
  for (u32 k = 0; k < 8; k++) clocks += w->wait[k];
  if (!clocks) return;
  memset(w->wait, 0, sizeof w->wait);
  w->chain += clocks;
}

static inline void later(u64 *there, u64 clock) { *there = *there < clock ? clock : *there; }

static inline void waits(Warp *w, u32 how, u32 lane, u32 clocks) {
  if (how & AWAITED) {
    u32 *slot = &w->wait[how & WAIT_SLOT];
    *slot = *slot < clocks ? clocks : *slot;
    return;
  }
  fold(w);
  if (how & ALONE) w->chain += clocks;
  if (how & LATER) later(&w->later, w->chain + clocks);
  if (how & COPY) later(&w->copied[w->groups[lane] & 7], w->chain + clocks);
}

/* A block of instructions needs what loads of other blocks left under way. */
void rt_arrived(Warp *w) {
  fold(w);
  later(&w->chain, w->later);
  w->later = 0;
}

/* All groups of copies but the last `left` that were committed are there. */
static void copies_arrived(Warp *w, u32 lane, u32 left) {
  fold(w);
  for (u32 k = left + 1; k <= 8 && k <= w->groups[lane]; k++)
    later(&w->chain, w->copied[(w->groups[lane] - k) & 7]);
}

/* Who waits for another thread repeats an access, and no other, until its value changes. How often it
   does so here comes from whose turn it was: it counts once. */
static void polled(Warp *w, u32 site, u64 address, const void *value, u32 size) {
  u32 now = 0;
  memcpy(&now, value, size < 4 ? size : 4);
  fold(w);
  int again = w->polled_site == site + 1 && w->polled_at == address && w->polled_value == now;
  if (again && w->accesses == w->polled_accesses + 1) {
    w->polled_accesses++;
    w->chain = w->polled_chain;
    return;
  }
  w->polled_site = site + 1, w->polled_at = address, w->polled_value = now;
  w->polled_accesses = w->accesses;
  w->polled_chain = w->chain;
}

static void warp_clear_time(Warp *w) {
  w->chain = w->later = 0, w->polled_site = 0;
  memset(w->wait, 0, sizeof w->wait), memset(w->copied, 0, sizeof w->copied);
}

/* A block is done: it took as long as its longest warp. */
static void block_time(Launch *L, Block *B) {
  u64 most = 0;
  for (u32 k = 0; k < B->nwarps; k++) {
    fold(B->warps[k]);
    later(&most, B->warps[k]->chain);
  }
  L->chains += most;
  later(&L->longest_chain, most);
}
