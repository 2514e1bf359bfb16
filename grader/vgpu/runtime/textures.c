/* Texture fetches and surface accesses (PTX ISA 9.7.10 and 9.7.11; CUDA C++ Programming Guide,
   "Texture Fetching"). Every texel is read and written through the memory it lies in, with the
   checks of any other access. */

/* What a texture or surface object names: the bytes of the buffer its handle is the address of
   (host.h of the programs' runtime has the same). */
typedef struct {
  u64 texels, pitch, slice;         /* address, distances of rows and of layers in bytes */
  u32 size[3];                      /* texels along each axis; the last one: layers, if layered */
  u32 channels, bits, kind;         /* of a texel; signed, unsigned, float */
  u32 linear, normalised, as_float; /* filter, coordinates, integers read as fractions */
  u32 mode[3];
  float border[4];
} Texture;
_Static_assert(sizeof(Texture) == 88, "texture");

enum { SIGNED_KIND, UNSIGNED_KIND, FLOAT_KIND };
enum { WRAP, CLAMP, MIRROR, BORDER };
enum { AS_F32, AS_U32, AS_S32 };
enum { TRAP_MODE, CLAMP_MODE, ZERO_MODE };
#define COORDINATE_ROW 8

static const Texture *texture_at(Warp *w, u32 mask, u32 site, u32 lane, u64 handle) {
  Launch *L = w->launch;
  u64 slot = handle >> SLOT_BITS;
  Buffer *b = slot < L->nslots && slot >= FIRST_VARIABLE_SLOT ? L->slots[slot] : 0;
  int known = b && b->flags & IS_TEXTURE && b->base == handle;
  if (known && !(b->flags & IS_FREED)) return (const Texture *)b->host;
  Place P = {.space = GLOBAL, .buffer = known ? (u32)slot : 0, .offset = handle};
  trouble(w, known ? USED_AFTER_FREE : OUTSIDE, mask, site, lane, READ, &P, handle, 8);
  return 0;
}

static u32 texel_bytes(const Texture *T) { return T->channels * T->bits / 8; }

/* The index that an addressing mode makes of `i`, or -1 for the border. */
static i64 addressed(u32 mode, i64 i, u32 size) {
  i64 n = size ? size : 1;
  if (i >= 0 && i < n) return i;
  if (mode == BORDER) return -1;
  if (mode == CLAMP) return i < 0 ? 0 : n - 1;
  i64 period = mode == MIRROR ? 2 * n : n;
  i64 r = i % period;
  if (r < 0) r += period;
  return r < n ? r : period - 1 - r;
}

static double half_value(u32 h) {
  i32 exponent = (i32)(h >> 10 & 31);
  u32 fraction = h & 1023;
  double v = exponent ? 1024.0 + fraction : fraction;
  if (exponent == 31) v = fraction ? __builtin_nan("") : __builtin_inf();
  for (i32 e = exponent ? exponent : 1; e < 25 && exponent != 31; e++) v /= 2;
  for (i32 e = exponent; e > 25 && exponent != 31; e--) v *= 2;
  return h & 0x8000 ? -v : v;
}

static u32 raw_channel(const Texture *T, const u8 *texel, u32 c) {
  u32 raw = 0;
  if (c >= T->channels) return 0;
  memcpy(&raw, texel + c * (T->bits / 8), T->bits / 8);
  if (T->kind == SIGNED_KIND && T->bits < 32) raw = (u32)((i32)(raw << (32 - T->bits)) >> (32 - T->bits));
  return raw;
}

/* A channel as a number; only those that are read as fractions or are floats can be filtered. */
static double channel_value(const Texture *T, const u8 *texel, u32 c) {
  u32 raw = raw_channel(T, texel, c);
  float f;
  memcpy(&f, &raw, 4);
  if (T->kind == FLOAT_KIND) return T->bits == 16 ? half_value(raw) : (double)f;
  double most = (double)((1ull << (T->bits - (T->kind == SIGNED_KIND))) - 1);
  double v = (T->kind == SIGNED_KIND ? (double)(i32)raw : (double)raw) / most;
  return v < -1 ? -1 : v;
}

static int reads_floats(const Texture *T) { return T->kind == FLOAT_KIND || T->as_float; }

static u32 as_float_bits(double v) {
  float f = (float)v;
  u32 bits;
  memcpy(&bits, &f, 4);
  return bits;
}

/* One texel of a lane: its bytes, all zeros beyond the border. Returns whether it was undefined. */
static u32 texel(Warp *w, u32 mask, u32 site, u32 lane, const Texture *T, const i64 *index,
                 u8 *bytes, int *outside) {
  u32 size = texel_bytes(T);
  memset(bytes, 0, 16);
  *outside = index[0] < 0 || index[1] < 0 || index[2] < 0;
  if (*outside) return 0;
  u64 a = T->texels + (u64)index[2] * T->slice + (u64)index[1] * T->pitch + (u64)index[0] * size;
  Place P;
  enum Trouble t = resolve(w, a, size, lane, 0, &P);
  w->addr[lane] = a;
  if (t) {
    trouble(w, t, mask & 1u << lane, site, lane, READ, &P, a, size);
    return 0;
  }
  memcpy(bytes, P.p, size);
  count_access(w, &w->launch->stats[site], 1u << lane, GLOBAL, 0, size, 0, 0, 1, 1);
  return w->launch->checks ? shadow_copy_source(w, lane, site, &P, a, size) : 0;
}

/* An axis of a fetch: the first of two texels, and how much the second counts, of 256. */
typedef struct { i64 first; u32 second; } Axis;

static Axis along(double x, u32 size, u32 mode, int normalised, int filtered) {
  double most = 1099511627776.0, whole = __builtin_floor(x);
  if (normalised && mode == WRAP) x -= whole;
  int odd = whole - 2 * __builtin_floor(whole / 2) != 0;
  if (normalised && mode == MIRROR) x = odd ? 1 - (x - whole) : x - whole;
  x = normalised ? x * size : x;
  if (!(x > -most)) x = x < 0 ? -most : 0; /* a NaN too */
  if (x > most) x = most;
  if (filtered) x -= 0.5;
  double down = __builtin_floor(x);
  Axis axis = {(i64)down, filtered ? (u32)((x - down) * 256 + 0.5) : 0};
  return axis;
}

/* `tex` and `tld4`: coordinates in rows from COORDINATE_ROW, four results in rows from 0.
   Site: `vector` has the axes, whether there are layers, whether the coordinates are integers, the
   type of the results, and with `tld4` one more than its channel. */
void rt_tex(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 axes = S->vector & 3, layered = S->vector >> 2 & 1, integers = S->vector >> 3 & 1;
  u32 type = S->vector >> 4 & 3, gathers = S->vector >> 8 & 7;
  u64 handles[LANES];
  memcpy(handles, w->addr, sizeof handles);
  memset(w->scratch[SHADOW_ROW], 0, 4 * sizeof(u32));
  w->serial++;
  u64 requests = w->launch->stats[site].requests;
  LANE_LOOP(mask, l) {
    u32 result[4] = {POISON, POISON, POISON, POISON}, bad = 0;
    w->addr[l] = handles[l];
    const Texture *T = texture_at(w, mask, site, l, handles[l]);
    if (T) {
      int filtered = T->linear && !integers && !gathers;
      Axis axis[3] = {{0, 0}, {0, 0}, {0, 0}};
      for (u32 k = 0; k < axes; k++) {
        u32 raw = w->scratch[COORDINATE_ROW + layered + k][l];
        float x;
        memcpy(&x, &raw, 4);
        if (integers) axis[k].first = (i32)raw;
        else axis[k] = along(x, T->size[k], T->mode[k], (int)T->normalised, filtered || gathers);
      }
      if (layered) axis[2].first = addressed(CLAMP, (i32)w->scratch[COORDINATE_ROW][l], T->size[2]);
      double sum[4] = {0, 0, 0, 0};
      u32 taps = gathers ? 4 : 1u << axes;
      for (u32 tap = 0; tap < taps; tap++) {
        i64 index[3];
        u32 weight = 1, whole = 1;
        for (u32 k = 0; k < 3; k++) {
          u32 second = tap >> k & 1;
          int plain = k >= axes;
          if (!plain) weight *= second ? axis[k].second : 256 - axis[k].second, whole *= 256;
          index[k] = plain ? axis[k].first
                           : addressed(integers ? BORDER : T->mode[k], axis[k].first + second,
                                       T->size[k]);
        }
        if (!gathers && !weight) continue;
        u8 bytes[16];
        int outside;
        bad |= texel(w, mask, site, l, T, index, bytes, &outside);
        for (u32 c = 0; c < 4; c++) {
          double v = reads_floats(T) ? channel_value(T, bytes, c) : 0;
          u32 raw = raw_channel(T, bytes, c);
          if (outside && !integers) {
            v = T->border[c];
            raw = type == AS_U32 ? (u32)T->border[c] : (u32)(i32)T->border[c];
          }
          if (gathers) {
            /* From the lower left on, against the clock. */
            static const u32 place[] = {3, 2, 0, 1};
            if (c == gathers - 1) result[place[tap]] = reads_floats(T) ? as_float_bits(v) : raw;
          } else if (reads_floats(T)) {
            sum[c] += v * weight / whole;
          } else {
            result[c] = raw;
          }
        }
      }
      for (u32 c = 0; c < 4 && !gathers && reads_floats(T); c++) result[c] = as_float_bits(sum[c]);
    }
    for (u32 c = 0; c < 4; c++) {
      w->scratch[c][l] = result[c];
      w->scratch[SHADOW_ROW][c] |= bad << l;
    }
  }
  w->launch->stats[site].requests = requests + (mask != 0);
}

/* Where a lane's part of a surface lies; 0 where there is nothing to access. `x` counts bytes. */
static u64 surface_place(Warp *w, u32 mask, u32 site, u32 lane, u64 handle, u32 access, u32 size) {
  const Site *S = &w->launch->sites[site];
  u32 axes = S->vector & 3, layered = S->vector >> 2 & 1, mode = S->vector >> 8 & 3;
  w->addr[lane] = handle;
  const Texture *T = texture_at(w, mask, site, lane, handle);
  if (!T) return 0;
  i64 at[3] = {0, 0, 0};
  for (u32 k = 0; k < axes; k++) at[k] = (i32)w->scratch[COORDINATE_ROW + layered + k][lane];
  if (layered) at[2] = (i32)w->scratch[COORDINATE_ROW][lane];
  int outside = 0;
  for (u32 k = 0; k < 3; k++) {
    i64 end = k ? (i64)T->size[k] : (i64)T->size[0] * texel_bytes(T) - size + 1;
    if (at[k] >= 0 && at[k] < end) continue;
    outside = 1;
    if (mode == CLAMP_MODE) at[k] = at[k] < 0 || end < 1 ? 0 : end - 1;
  }
  u64 a = T->texels + (u64)at[2] * T->slice + (u64)at[1] * T->pitch + (u64)at[0];
  w->addr[lane] = a;
  if (!outside || mode == CLAMP_MODE) return a;
  if (mode == TRAP_MODE) {
    Place P = {.space = GLOBAL, .buffer = (u32)(T->texels >> SLOT_BITS), .offset = a - T->texels};
    Fault *f = report(w, OFF_THE_EDGE, ERROR, site, lane, access, GLOBAL, P.buffer, a, size, 1);
    if (f && f->count == 1) {
      f->code = texel_bytes(T);
      for (u32 k = 0; k < 3; k++) f->lanes[k] = (u64)at[k], f->lanes[3 + k] = T->size[k];
    }
  }
  return 0;
}

void rt_surface_load(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 elem = S->elem_bytes, vec = S->vector >> 4 & 7, size = elem * vec;
  u64 handles[LANES];
  memcpy(handles, w->addr, sizeof handles);
  memset(w->scratch[SHADOW_ROW], 0, sizeof(u32));
  w->serial++;
  u64 requests = w->launch->stats[site].requests;
  LANE_LOOP(mask, l) {
    u8 bytes[16] = {0};
    u64 a = surface_place(w, mask, site, l, handles[l], READ, size);
    if (a) {
      Place P;
      enum Trouble t = resolve(w, a, size, l, 0, &P);
      if (t) {
        trouble(w, t, mask & 1u << l, site, l, READ, &P, a, size);
      } else {
        memcpy(bytes, P.p, size);
        count_access(w, &w->launch->stats[site], 1u << l, GLOBAL, 0, size, 0, 0, 1, 1);
        if (w->launch->checks)
          w->scratch[SHADOW_ROW][0] |= shadow_copy_source(w, l, site, &P, a, size) << l;
      }
    }
    for (u32 v = 0; v < vec; v++)
      memcpy((u8 *)w->scratch + (v * LANES + l) * elem, bytes + v * elem, elem);
  }
  w->launch->stats[site].requests = requests + (mask != 0);
}

/* The values in rows from 0, the lanes whose values are undefined in the shadow's row. */
void rt_surface_store(Warp *w, u32 mask, u32 site) {
  const Site *S = &w->launch->sites[site];
  u32 elem = S->elem_bytes, vec = S->vector >> 4 & 7, size = elem * vec;
  u64 handles[LANES];
  memcpy(handles, w->addr, sizeof handles);
  w->serial++;
  u64 requests = w->launch->stats[site].requests;
  LANE_LOOP(mask, l) {
    u64 a = surface_place(w, mask, site, l, handles[l], WRITE, size);
    if (!a) continue;
    Place P;
    enum Trouble t = resolve(w, a, size, l, 1, &P);
    if (t) {
      trouble(w, t, mask & 1u << l, site, l, WRITE, &P, a, size);
      continue;
    }
    u8 bytes[16];
    for (u32 v = 0; v < vec; v++)
      memcpy(bytes + v * elem, (u8 *)w->scratch + (v * LANES + l) * elem, elem);
    if (w->launch->checks)
      shadow_texel_write(w, l, site, &P, a, size, !memcmp(P.p, bytes, size),
                         w->scratch[SHADOW_ROW][0] >> l & 1);
    memcpy(P.p, bytes, size);
    if (P.written) memset(P.written, 1, size);
    count_access(w, &w->launch->stats[site], 1u << l, GLOBAL, 0, size, 0, 1, 1, 1);
  }
  w->launch->stats[site].requests = requests + (mask != 0);
}
