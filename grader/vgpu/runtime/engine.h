/* Structures shared by the runtime, the generated code (layout.py) and Python (machine.py). */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef __SIZE_TYPE__ usize;

void *malloc(usize);
void *calloc(usize, usize);
void *realloc(void *, usize);
void free(void *);
void *memcpy(void *, const void *, usize);
void *memset(void *, int, usize);
int memcmp(const void *, const void *, usize);

#define LANES 32
#define ALL 0xffffffffu
#define SLOT_BITS 36
#define SHARED_SLOT 1
#define LOCAL_SLOT 2
#define PARAM_SLOT 3
#define FUNCTION_SLOT 4
#define FIRST_VARIABLE_SLOT 16
#define BASE(slot) ((u64)(slot) << SLOT_BITS)
#define ARRAY_SHIFT 20
#define ARRAY_START (1u << 18)
#define SHADOW_ROW 56
#define POISON 0x7fffffffu
#define MET_BITS 14

enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM };
enum Flag {
  VOLATILE = 1, RELAXED = 2, ACQUIRE = 4, RELEASE = 8, CTA = 16, GPU = 32, SYS = 64, NC = 128,
  BYPASS_L1 = 256,
  COMPUTED = 512 /* element 0 of a vector store, the next bits those of the others */
};
enum Access { READ, WRITE, ATOMIC };
enum Severity { NOTE, WARNING, ERROR };
enum Kind {
  OUT_OF_BOUNDS, MISALIGNED, INPUT_MODIFIED, RACE, BAD_BARRIER, DEADLOCK, WARP_MASK,
  UNINITIALISED, TRAP, ASSERTION, FREED, EARLY_EXIT, STALE_COPY, ABSENT_LANE, OFF_THE_EDGE
};
enum Latency { SHARED_LATENCY, L1_LATENCY, L2_LATENCY, DRAM_LATENCY, BARRIER_LATENCY };
/* How a site waits (latency.py): in its block, beside others of its slot; where another block needs
   the value; by itself; or where its group of copies is waited for. */
enum Wait { WAIT_SLOT = 7, AWAITED = 8, LATER = 16, ALONE = 32, COPY = 64 };
enum Ended { FINISHED, ENDED_TRAP, ENDED_ASSERTION, ENDED_FUEL, ENDED_DEADLOCK, UNSUPPORTED };

/* One memory access of a thread, for the race check: who, when (its warp's clock), where. */
typedef struct { u32 thread, clock, site; } Stamp;
typedef struct Reader { Stamp at; u32 met, pad; struct Reader *next; } Reader; /* met: see race_access */
typedef struct { Stamp write, atomic, read; u32 flags, serial, pad; Reader *more; } Cell;
enum CellFlag { HAS_WRITE = 1, HAS_READ = 2, HAS_ATOMIC = 4, WRITE_VOLATILE = 16, READ_VOLATILE = 32,
                IN_FLIGHT = 64 };

/* What is known about every byte of a region: `init` one byte each (null: all written), `cells`
   one per (1 << shift) bytes. */
typedef struct { u8 *init; Cell *cells; u32 shift; u32 pad; u64 size; } Shadow;

enum BufferFlag { READ_ONLY = 1, IS_FREED = 2, IS_CONST = 4, TRACK = 8, IS_INPUT = 16, IS_HEAP = 32,
                  IS_TEXTURE = 64 };
typedef struct {
  u64 base, size;
  u8 *host;
  u8 *written;      /* one byte per byte, or null */
  u32 flags, id;
  Shadow shadow;
} Buffer;

typedef struct { u8 space, elem_bytes; u16 flags; u32 vector; u32 block; u32 wait; } Site;
typedef struct {
  u64 requests, lanes, bytes, sectors, ideal, wavefronts, ideal_wavefronts, serial, l1_hits,
      l2_sectors, dram_sectors, distinct, shared_requests;
} Stat;
typedef struct { u64 runs, lanes, divergent; } Counter;
typedef struct { u32 size, storage; } Array;   /* of a shared array or local depot */

typedef struct {
  u32 kind, severity, site, access, space, buffer, size, other_site, other_access, code;
  u64 count, address;
  u32 block[3], thread[3], other_block, other_thread;
  u32 has_other;
  u32 lane_mask;               /* lanes of the first such access, and where each of them went */
  u64 lanes[32];
} Fault;

struct Launch;
struct Block;

/* The load that undefined bytes came from; `site` plus one, 0 where nothing is known. */
typedef struct { u32 site, buffer, space, size; u64 address; } Origin;

typedef struct Warp {
  u32 pc[LANES];
  u64 addr[LANES];
  u32 scratch[64][LANES];
  u32 tid[3][LANES];
  u32 live, waiting, next, mask, pend, event;
  i64 budget;
  Counter *counters;
  u8 *params;
  u32 *visited;
  struct Block *block;
  struct Launch *launch;
  u32 ctaid[3], ntid[3], nctaid[3], warpid, nwarps, dynamic_shared, smid;
  u32 barrier_result;
  u32 wait[8];               /* see time.c */
  u64 chain;
  /* below here only the runtime looks */
  u64 later, copied[8], polled_at, polled_chain;
  u32 polled_site, polled_value, accesses, polled_accesses;
  u32 pad0;
  u32 wait_barrier, wait_sync, rotate, first_live, forced, clock, gid, depth_max;
  u32 sync_need[LANES];
  u32 barrier_id[LANES];
  u32 *stack;                /* return blocks: [depth][lane] */
  void **frames;             /* saved registers of recursive calls, parallel to stack */
  u32 depth[LANES];
  u8 *local;                 /* interleaved by word: (word * 32 + lane) */
  u8 *local_init;            /* the same, one byte per byte */
  u32 *vc;                   /* [nwarps]: clocks of this block's warps known to precede */
  u32 (*lane_vc)[LANES];     /* [lane][lane] */
  u32 *shared_vc;            /* both again for shared memory, once a barrier ordered only one */
  u32 (*shared_lane_vc)[LANES];
  u32 *gvc, *fence_gvc, *pending_gvc;  /* [total warps] or null */
  u32 *fence_block;           /* [nwarps]: what a fence for the block alone published */
  u32 fenced, fence_is_new;
  struct Async *async;       /* copies in flight */
  u32 async_count, async_capacity;
  u32 groups[LANES];
  u32 serial;
  Origin origin[LANES];      /* of the last undefined bytes that a lane loaded */
  u32 origin_kept[LANES];    /* where the launch keeps it, plus one */
  u32 *local_origin;         /* of each undefined word of local memory, kept; null without one */
  u32 last_call, pad2;        /* where call_site looks first */
} Warp;

typedef struct Async { u32 lane, group, offset, size, committed; } Async;

#define W_REGS 16384
_Static_assert(__builtin_offsetof(Warp, addr) == 128, "addr");
_Static_assert(__builtin_offsetof(Warp, scratch) == 384, "scratch");
_Static_assert(__builtin_offsetof(Warp, tid) == 8576, "tid");
_Static_assert(__builtin_offsetof(Warp, live) == 8960, "live");
_Static_assert(__builtin_offsetof(Warp, budget) == 8984, "budget");
_Static_assert(__builtin_offsetof(Warp, launch) == 9024, "launch");
_Static_assert(__builtin_offsetof(Warp, ctaid) == 9032, "ctaid");
_Static_assert(__builtin_offsetof(Warp, smid) == 9080, "smid");
_Static_assert(__builtin_offsetof(Warp, barrier_result) == 9084, "barrier_result");
_Static_assert(__builtin_offsetof(Warp, wait) == 9088, "wait");
_Static_assert(__builtin_offsetof(Warp, chain) == 9120, "chain");
_Static_assert(sizeof(Warp) <= W_REGS, "warp header");

typedef struct {
  u32 arrived, expected, site, other_site, mixed, red_kind, red_count, red_and, red_or, sync_seen;
  u32 flags;
  u64 chain;                 /* the longest of the warps that have arrived */
  u32 *mask;                 /* [nwarps] lanes that have arrived */
} Barrier;

typedef struct Block {
  u32 ctaid[3], linear, live, done, nwarps, yielded;
  Warp **warps;
  u8 *shared;
  Shadow shared_shadow;
  Barrier barriers[16];
  u64 l1_tags[1024];         /* 128-byte lines, direct mapped; low 4 bits: sectors present */
  struct Block *next;
} Block;

/* A site reached through calls: `id` nsites + k stands for the k-th of these. */
typedef struct { u32 site, depth, back[12]; } CallSite;
#define MAX_CALL_SITES 4096

typedef struct Launch {
  Buffer **slots;
  u64 nslots;
  Site *sites;
  Stat *stats;
  u64 nsites;
  void (**table)(Warp *);
  u64 nblocks;
  u8 *params;
  u64 params_size;
  u32 grid[3], block[3];
  u32 dynamic_shared, shared_bytes, local_bytes, register_bytes, zero_bytes, checks, reversed,
      resident;
  i64 fuel, quantum;
  Array *shared_arrays;
  u64 nshared;
  Array *local_arrays;
  u64 nlocal;
  u32 *pd_offsets, *pd_list;   /* blocks after a block on every path; null without checks */
  Fault *faults;
  u64 nfaults, max_faults;
  u8 *text;
  u64 text_size, text_capacity;
  Counter *counters;
  u32 ended, ended_site;
  u32 ended_block[3], ended_thread[3];
  u64 barriers, instructions;
  u64 *l2_tags;
  u64 l2_lines;
  u64 heap_slot, heap_limit;
  Buffer *heap;
  u64 nheap, heap_capacity, heap_next;
  u64 l2_hits, dram_read_sectors, dram_write_sectors;
  /* private */
  u32 stop, total_warps, threads_per_block, started;
  struct Sync *sync;
  u64 nsync, sync_capacity;
  u64 grid_workspace;
  u64 live_clock;
  struct Chunk *arena;
  u64 arena_left;
  CallSite *call_sites;
  u64 ncall_sites;
  u32 exact[3], pad_exact;   /* the grid in threads where its last blocks are not whole, or 0 */
  u8 *checked_reads;         /* per site: 1 for a load whose value an atomic of the lane checked */
  Origin *origins;
  u64 norigins;
  u64 lost_errors;           /* findings of that severity that there was no room for */
  u32 *heap_sites;           /* where each block of the heap was allocated */
  u32 no_memory_site;        /* the first allocation that the heap had no room for, plus one */
  u32 heap_block_bytes;      /* what the smallest allocation takes of the heap */
  u32 *functions;            /* of each function of the module its first block here, or ALL */
  u64 nfunctions;
  u32 latencies[5], pad_latencies;   /* clocks, by enum Latency */
  u64 chains, longest_chain;         /* of the blocks: their sum and the longest */
  u32 *met, most_met;                /* atomics by address of global memory, hashed, and the most */
  u32 l1_mask;                       /* lines of L1 that a block has, less one */
} Launch;

/* Of a barrier's site, beside its kind: what it does not order, and that no thread may miss it. */
enum { NOT_GLOBAL = 16, NOT_SHARED = 32, EVERY_THREAD = 64 };

/* What a release at an address published: to the whole grid, and to one block only. */
typedef struct Sync { u64 address; u32 *vc, *block_vc; u32 block; } Sync;



#endif
