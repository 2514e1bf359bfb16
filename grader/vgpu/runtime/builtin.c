/* What device code may call: printf, assert, malloc and free, mathematics by name. */

static u8 *text_room(Launch *L, u64 n) {
  if (L->text_size + n > L->text_capacity) return 0;
  u8 *p = L->text + L->text_size;
  L->text_size += n;
  return p;
}

static u8 byte_at(Warp *w, u64 a, u32 lane, int *ok) {
  Place P;
  *ok = resolve(w, a, 1, lane, 0, &P) == FINE;
  return *ok ? *P.p : 0;
}

static u64 copy_text(Warp *w, u64 a, u32 lane, u8 *to, u64 most) {
  u64 n = 0;
  int ok;
  while (n + 1 < most) {
    u8 c = byte_at(w, a + n, lane, &ok);
    if (!ok || !c) break;
    to[n++] = c;
  }
  to[n] = 0;
  return n;
}

/* A record: u32 length of the format, u32 bytes of arguments, then both; Python formats it. */
void rt_printf(Warp *w, u32 mask, u32 site) {
  Launch *L = w->launch;
  (void)site;
  u64 *format = (u64 *)w->scratch, *args = (u64 *)((u8 *)w->scratch + 512);
  LANE_LOOP(mask, l) {
    u8 text[1024];
    u8 data[256];
    u32 n = (u32)copy_text(w, format[l], l, text, sizeof text), m = 0;
    for (int ok = 1; m < sizeof data; m++) {
      data[m] = byte_at(w, args[l] + m, l, &ok);
      if (!ok) break;
    }
    u8 *p = text_room(L, 8 + n + m);
    if (!p) return;
    memcpy(p, &n, 4), memcpy(p + 4, &m, 4), memcpy(p + 8, text, n), memcpy(p + 8 + n, data, m);
    /* %s arguments are pointers: resolve them now, right behind the record. */
    u32 at = 0;
    for (u32 k = 0; k < n; k++) {
      if (text[k] != '%') continue;
      k++;
      u32 wide = 0;
      while (k < n && (text[k] == '-' || text[k] == '+' || text[k] == ' ' || text[k] == '#' ||
                       text[k] == '.' || text[k] == 'l' || text[k] == 'h' || text[k] == 'z' ||
                       text[k] == 'j' || text[k] == 't' || (text[k] >= '0' && text[k] <= '9'))) {
        if (text[k] == 'l' || text[k] == 'z' || text[k] == 'j' || text[k] == 't') wide = 1;
        k++;
      }
      if (k >= n) break;
      u8 c = text[k];
      if (c == '%') continue;
      u32 size = wide || c == 's' || c == 'p' || c == 'f' || c == 'F' || c == 'e' || c == 'E' ||
                         c == 'g' || c == 'G' || c == 'a' || c == 'A' ? 8 : 4;
      at = (at + size - 1) & ~(size - 1);
      if (c == 's' && at + 8 <= m) {
        u64 pointer;
        u8 value[512];
        memcpy(&pointer, data + at, 8);
        u32 length = (u32)copy_text(w, pointer, l, value, sizeof value);
        u8 *q = text_room(L, 4 + length);
        if (!q) return;
        memcpy(q, &length, 4), memcpy(q + 4, value, length);
      }
      at += size;
    }
  }
}

void rt_assert(Warp *w, u32 mask, u32 site) {
  Launch *L = w->launch;
  if (!mask || L->stop) return;
  u32 l = (u32)__builtin_ctz(mask);
  u8 text[1024];
  u64 n = copy_text(w, ((u64 *)w->scratch)[l], l, text, sizeof text);
  report(w, ASSERTION, ERROR, site, l, READ, GENERIC, 0, 0, 0, (u32)__builtin_popcount(mask));
  /* The message travels behind the printed text, marked by an impossible length. */
  u8 *p = text_room(L, 8 + n);
  if (p) {
    u32 mark = ALL, length = (u32)n;
    memcpy(p, &mark, 4), memcpy(p + 4, &length, 4), memcpy(p + 8, text, n);
  }
  stop(w, ENDED_ASSERTION, site, l);
}

static u64 heap_share(Launch *L, u64 size) {
  return size < L->heap_block_bytes ? L->heap_block_bytes : size;
}

/* A place for a block of the heap, or null where the heap is full. What was freed is taken back,
   the longest ago first, only when room is short: until then its later use is found. */
static Buffer *heap_room(Launch *L, u64 size) {
  size = heap_share(L, size);
  if (size <= L->heap_limit && L->nheap < L->heap_capacity) return &L->heap[L->nheap++];
  Buffer *room = 0;
  for (u64 tried = 0; tried < L->nheap && !(room && size <= L->heap_limit); tried++) {
    Buffer *b = &L->heap[L->heap_next++ % L->nheap];
    if (!(b->flags & IS_FREED)) continue;
    if (b->host) {
      free(b->host), free(b->written), free(b->shadow.init), shadow_free(&b->shadow);
      b->host = 0, L->heap_limit += heap_share(L, b->size);
    }
    room = b;
  }
  return size <= L->heap_limit ? room : 0;
}

void rt_malloc(Warp *w, u32 mask, u32 site) {
  Launch *L = w->launch;
  u64 *size = (u64 *)w->scratch, *out = (u64 *)((u8 *)w->scratch + 512);
  LANE_LOOP(mask, l) {
    out[l] = 0;
    if (!size[l]) continue;
    Buffer *b = heap_room(L, size[l]);
    u32 at = call_site(w, l, site);
    if (!b && !L->no_memory_site) L->no_memory_site = at + 1;
    if (!b) continue;
    L->heap_sites[b - L->heap] = at;
    L->heap_limit -= heap_share(L, size[l]);
    u64 slot = L->heap_slot + (u64)(b - L->heap);
    memset(b, 0, sizeof *b);
    b->base = BASE(slot) + (1ull << 35), b->size = size[l], b->host = calloc(1, size[l] + 16);
    b->id = (u32)slot, b->shadow.size = size[l], b->flags = IS_HEAP;
    u8 *marks = calloc(1, size[l] + 16);
    if (L->checks) b->shadow.init = marks;
    else b->written = marks;
    L->slots[slot] = b;
    out[l] = b->base;
  }
}

void rt_free(Warp *w, u32 mask, u32 site) {
  Launch *L = w->launch;
  u64 *pointer = (u64 *)w->scratch;
  LANE_LOOP(mask, l) {
    u64 a = pointer[l], slot = a >> SLOT_BITS;
    if (!a) continue;
    Buffer *b = slot < L->nslots ? L->slots[slot] : 0;
    if (!b || !(b->flags & IS_HEAP) || b->base != a || b->flags & IS_FREED) {
      report(w, FREED, ERROR, site, l, WRITE, GLOBAL, (u32)slot, a, 0, 1);
      continue;
    }
    b->flags |= IS_FREED;
  }
}

/* 1 and 2: the grid's workspace; 8 to 10: the exact grid in threads, 0 where blocks are whole. */
u32 rt_envreg(Warp *w, u32 which) {
  if (which >= 8) return w->launch->exact[which - 8];
  u64 a = w->launch->grid_workspace;
  return which == 2 ? (u32)a : (u32)(a >> 32);
}

/* -- functions over 32 lanes --------------------------------------------------------------------- */

float vg_fma_f32(float, float, float, int);
double vg_fma_f64(double, double, double, int);
/* Where the CPU has no fused multiply-add, LLVM calls these. */
float fmaf(float a, float b, float c) { return vg_fma_f32(a, b, c, 0); }
double fma(double a, double b, double c) { return vg_fma_f64(a, b, c, 0); }

#define EVERY for (u32 l = 0; l < LANES; l++)

void rt_mulhi_u64(u64 *d, const u64 *a, const u64 *b) {
  EVERY d[l] = (u64)((unsigned __int128)a[l] * b[l] >> 64);
}
void rt_mulhi_s64(i64 *d, const i64 *a, const i64 *b) {
  EVERY d[l] = (i64)((__int128)a[l] * b[l] >> 64);
}
void rt_mulhi_b64(u64 *d, const u64 *a, const u64 *b) { rt_mulhi_u64(d, a, b); }
void rt_div_u64(u64 *d, const u64 *a, const u64 *b) { EVERY d[l] = b[l] ? a[l] / b[l] : ~0ull; }
void rt_rem_u64(u64 *d, const u64 *a, const u64 *b) { EVERY d[l] = b[l] ? a[l] % b[l] : a[l]; }
void rt_div_s64(i64 *d, const i64 *a, const i64 *b) {
  EVERY d[l] = !b[l] ? -1 : b[l] == -1 ? (i64)(0 - (u64)a[l]) : a[l] / b[l];
}
void rt_rem_s64(i64 *d, const i64 *a, const i64 *b) {
  EVERY d[l] = !b[l] ? a[l] : b[l] == -1 ? 0 : a[l] % b[l];
}
void rt_fns(u32 *d, const u32 *mask, const u32 *base, const u32 *offset) {
  EVERY {
    i32 n = (i32)offset[l];
    u32 at = base[l] & 31, m = mask[l], found = ALL;
    if (n == 0) found = m >> at & 1 ? at : ALL;
    else {
      i32 step = n > 0 ? 1 : -1, count = n > 0 ? n - 1 : -n - 1;
      for (i32 p = (i32)at; p >= 0 && p < 32; p += step)
        if (m >> p & 1 && count-- == 0) { found = (u32)p; break; }
    }
    d[l] = found;
  }
}
