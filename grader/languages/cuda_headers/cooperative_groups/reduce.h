// cg::reduce and the operations it takes.
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups {
#define GRADE_OPERATION(name, expression)                                  \
  template <class T = void> struct name {                                  \
    GRADE_MEMBER T operator()(const T& a, const T& b) const { return expression; } \
  };
GRADE_OPERATION(plus, a + b)
GRADE_OPERATION(less, b < a ? b : a)
GRADE_OPERATION(greater, a < b ? b : a)
GRADE_OPERATION(bit_and, a & b)
GRADE_OPERATION(bit_or, a | b)
GRADE_OPERATION(bit_xor, a ^ b)
#undef GRADE_OPERATION

// Every thread of the group gets the result: halves exchange until one value is left.
template <unsigned Size, class Parent, class T, class Operation>
GRADE_DEVICE __attribute__((convergent)) T reduce(const thread_block_tile<Size, Parent>& group, T v,
                                                  Operation&& operation) {
  for (unsigned with = Size / 2; with > 0; with /= 2) v = operation(v, group.shfl_xor(v, with));
  return v;
}
template <class T, class Operation>
GRADE_DEVICE __attribute__((convergent)) T reduce(const coalesced_group& group, T v,
                                                  Operation&& operation) {
  T sum = group.shfl(v, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) sum = operation(sum, group.shfl(v, rank));
  return sum;
}
}  // namespace cooperative_groups
