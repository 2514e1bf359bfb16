// Barriers, fences, warp functions, clocks; __syncthreads itself is known to clang.
#pragma once

namespace grade {
template <bool, class T> struct when {};
template <class T> struct when<true, T> { typedef T type; };
template <class T> constexpr bool exchanged = __is_arithmetic(T) || __is_enum(T);
}  // namespace grade

#define GRADE_VOTE(name, instruction)                                                           \
  GRADE_DEVICE __attribute__((convergent)) int name(int p) {                                    \
    int r;                                                                                      \
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red." instruction                \
                 " q, 0, p; selp.s32 %0, 1, 0, q; }"                                            \
                 : "=r"(r) : "r"(p) : "memory");                                                \
    return r;                                                                                   \
  }
GRADE_VOTE(__syncthreads_and, "and.pred") GRADE_VOTE(__syncthreads_or, "or.pred")
#undef GRADE_VOTE
GRADE_DEVICE __attribute__((convergent)) int __syncthreads_count(int p) {
  int r;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(r) : "r"(p) : "memory");
  return r;
}
GRADE_DEVICE __attribute__((convergent)) void __syncwarp(unsigned mask = 0xffffffff) {
  __nvvm_bar_warp_sync(mask);
}
GRADE_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
GRADE_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
GRADE_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }

// ---- votes -----------------------------------------------------------------------------------
GRADE_DEVICE __attribute__((convergent)) unsigned __activemask() { return __nvvm_activemask(); }
GRADE_DEVICE __attribute__((convergent)) unsigned __ballot_sync(unsigned mask, int p) {
  return __nvvm_vote_ballot_sync(mask, p != 0);
}
GRADE_DEVICE __attribute__((convergent)) int __all_sync(unsigned mask, int p) {
  return __nvvm_vote_all_sync(mask, p != 0);
}
GRADE_DEVICE __attribute__((convergent)) int __any_sync(unsigned mask, int p) {
  return __nvvm_vote_any_sync(mask, p != 0);
}
GRADE_DEVICE __attribute__((convergent)) int __uni_sync(unsigned mask, int p) {
  return __nvvm_vote_uni_sync(mask, p != 0);
}

// ---- shuffles --------------------------------------------------------------------------------
#define GRADE_SHUFFLE(name, instruction, clamp)                                                   \
  GRADE_DEVICE __attribute__((convergent)) int grade_##name(unsigned m, int v, int by, int w) {   \
    return __nvvm_shfl_sync_##instruction##_i32(m, v, by, (32 - w) << 8 | clamp);                 \
  }                                                                                               \
  template <class T>                                                                              \
  GRADE_DEVICE __attribute__((convergent))                                                        \
  typename grade::when<grade::exchanged<T> && sizeof(T) <= 4, T>::type                   \
  name(unsigned mask, T v, int by, int width = 32) {                                              \
    if constexpr (__is_floating_point(T))                                                     \
      return __builtin_bit_cast(T, grade_##name(mask, __builtin_bit_cast(int, v), by, width));    \
    else                                                                                          \
      return (T)grade_##name(mask, (int)v, by, width);                                            \
  }                                                                                               \
  template <class T>                                                                              \
  GRADE_DEVICE __attribute__((convergent))                                                        \
  typename grade::when<grade::exchanged<T> && sizeof(T) == 8, T>::type                   \
  name(unsigned mask, T v, int by, int width = 32) {                                              \
    long long bits = __builtin_bit_cast(long long, v);                                            \
    unsigned low = (unsigned)grade_##name(mask, (int)bits, by, width);                            \
    long long high = grade_##name(mask, (int)(bits >> 32), by, width);                            \
    return __builtin_bit_cast(T, high << 32 | low);                                               \
  }
GRADE_SHUFFLE(__shfl_sync, idx, 0x1f)
GRADE_SHUFFLE(__shfl_up_sync, up, 0)
GRADE_SHUFFLE(__shfl_down_sync, down, 0x1f)
GRADE_SHUFFLE(__shfl_xor_sync, bfly, 0x1f)
#undef GRADE_SHUFFLE

// ---- match and reduce ------------------------------------------------------------------------
template <class T>
GRADE_DEVICE __attribute__((convergent)) unsigned __match_any_sync(unsigned mask, T v) {
  if constexpr (sizeof(T) == 8)
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(long long, v));
  else
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(int, v));
}
template <class T>
GRADE_DEVICE __attribute__((convergent)) unsigned __match_all_sync(unsigned mask, T v, int* same) {
  if constexpr (sizeof(T) == 8)
    return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(long long, v), same);
  else
    return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(int, v), same);
}
#define GRADE_REDUCE(name, instruction, T)                                           \
  GRADE_DEVICE __attribute__((convergent)) T name(unsigned mask, T v) {              \
    T r;                                                                             \
    asm volatile("redux.sync." instruction " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask)); \
    return r;                                                                        \
  }
GRADE_REDUCE(__reduce_add_sync, "add.s32", int) GRADE_REDUCE(__reduce_add_sync, "add.u32", unsigned)
GRADE_REDUCE(__reduce_min_sync, "min.s32", int) GRADE_REDUCE(__reduce_min_sync, "min.u32", unsigned)
GRADE_REDUCE(__reduce_max_sync, "max.s32", int) GRADE_REDUCE(__reduce_max_sync, "max.u32", unsigned)
GRADE_REDUCE(__reduce_and_sync, "and.b32", unsigned)
GRADE_REDUCE(__reduce_or_sync, "or.b32", unsigned)
GRADE_REDUCE(__reduce_xor_sync, "xor.b32", unsigned)
#undef GRADE_REDUCE

// ---- clocks and ends -------------------------------------------------------------------------
GRADE_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
GRADE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
GRADE_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
GRADE_DEVICE void __trap() { asm volatile("trap;"); }
GRADE_DEVICE void __brkpt() { asm volatile("brkpt;"); }
