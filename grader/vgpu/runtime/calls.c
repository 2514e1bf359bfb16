/* Calls as explicit continuations: each lane has frames of its own. */

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
      int known = a >> SLOT_BITS == FUNCTION_SLOT && offset < L->nfunctions;
      if (!known || L->functions[offset] == ALL) {
        stop(w, UNSUPPORTED, w->event, l);
        return;
      }
      target = L->functions[offset];
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
