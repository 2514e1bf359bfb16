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
  free(L->sync), free(L->origins);
  L->origins = 0, L->norigins = 0;
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

#include "order.c"

/* -- races -------------------------------------------------------------------------------------- */

static void race(Warp *w, u32 lane, u32 site, u32 access, const Place *P, u64 address, u32 size,
                 u32 severity, Stamp other, u32 other_access, u32 code) {
  Launch *L = w->launch;
  site = call_site(w, lane, site);
  for (u64 k = 0; k < L->nfaults; k++) {
    Fault *f = &L->faults[k];
    /* Which load an atomic met decides what the report is worth: one record for each. */
    int same = access != ATOMIC || other_access != READ || f->other_site == other.site;
    if (f->kind == RACE && f->site == site && f->buffer == P->buffer && f->severity == severity &&
        f->access == access && f->other_access == other_access && same) {
      f->count++;
      return;
    }
  }
  Fault *f = record(w, RACE, severity, site, lane, access, P->space, P->buffer, address, size, 1);
  if (!f) return;
  name_other(w, f, other, other_access);
  f->code = code;
}

/* An atomic that compares with the old value, by a lane that has read it before: a plain load as
   compare-and-swap loops begin with. */
static void atomic_checks(Launch *L, const Cell *c, u32 thread, u32 site) {
  u32 op = L->sites[site].vector & 15;
  if (op != 1 && op != 2 && op != 3 && op != 4 && op != 7) return; /* min max and or cas */
  const Stamp *read = c->flags & HAS_READ && c->read.thread == thread ? &c->read : 0;
  for (Reader *r = c->more; r && !read; r = r->next)
    if (r->at.thread == thread) read = &r->at;
  if (!read) return;
  u32 load = read->site < L->nsites ? read->site : L->call_sites[read->site - L->nsites].site;
  L->checked_reads[load] = 1;
}

static int against(Warp *w, u32 lane, u32 site, u32 access, u32 strong, const Place *P, u64 a,
                    u32 size, Stamp other, u32 other_access, int other_strong, int same_value,
                    int same_instruction) {
  enum Relation r = relation(w, lane, other, P->space);
  if (r == ORDERED) return 0;
  if (access == ATOMIC && other_access == ATOMIC) return 0;
  u32 severity = r == SAME_WARP ? WARNING : ERROR;
  int both_write = access != READ && other_access != READ;
  if (same_instruction && both_write && !same_value) severity = ERROR;
  if (both_write && same_value && access == WRITE && other_access == WRITE) severity = NOTE;
  if (access == ATOMIC || other_access == ATOMIC) {
    int weak_read = access == READ ? !strong : other_access == READ ? !other_strong : 1;
    if (!weak_read) severity = NOTE;
  } else if (strong && other_strong && w->launch->nsync && sync_at(w->launch, a, 0)) {
    /* Volatile accesses to a flag that is set behind a fence: a protocol, not a slip. */
    return 0;
  }
  race(w, lane, site, access, P, a, size, severity, other, other_access,
       (u32)(r | (same_value ? 16 : 0)));
  return 1;
}

/* Readers that an atomic has met stay in a cell's list up to this many. */
#define MOST_MET 256

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
    if (access == ATOMIC && !k) atomic_checks(L, c, now.thread, site);
    if (c->flags & HAS_ATOMIC && access != ATOMIC && c->atomic.thread != now.thread)
      against(w, lane, site, access, strong, P, a, size, c->atomic, ATOMIC, 1, same_value, 0);
    if (access == READ) {
      if (c->flags & HAS_READ && c->read.thread != now.thread &&
          relation(w, lane, c->read, P->space) != ORDERED) {
        /* Keep one reader per warp beside the first, as far as a short look back finds it. */
        Reader *r = c->more;
        u32 back = 0;
        while (r && back++ < 64 && r->at.thread / LANES != now.thread / LANES) r = r->next;
        if (!r || r->at.thread / LANES != now.thread / LANES) {
          r = arena(L, sizeof *r);
          r->next = c->more, c->more = r;
        }
        r->at = now, r->met = 0;
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
      /* Many atomics meet many readers: each reader once by each instruction. */
      u32 here = access == ATOMIC ? now.site + 1 : 0;
      u32 length = 0;
      for (Reader **place = &c->more, *r; (r = *place);) {
        if (r->at.thread != now.thread && (!here || r->met != here) &&
            against(w, lane, site, access, strong, P, a, size, r->at, READ, read_strong, 0, 0))
          r->met = here;
        if (r->met && ++length > MOST_MET) *place = r->next;
        else place = &r->next;
      }
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

#include "initialisation.c"
