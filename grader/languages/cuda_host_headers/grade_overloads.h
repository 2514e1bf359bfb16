// Calls of mathematical functions with integers and with mixed types: double, as C++ has it and
// nvcc accepts it. The overloads for float and double are the compiler's own.
#pragma once
namespace grade_overloads {
template <bool, class T> struct when {};
template <class T> struct when<true, T> { typedef T type; };
// 1: an integer, 2: float, 3: double. Functions, since NVRTC keeps every static member in the PTX.
template <class T> __host__ __device__ constexpr int kind() { return 0; }
#define GRADE_KIND(T, k) \
  template <> __host__ __device__ constexpr int kind<T>() { return k; }
GRADE_KIND(bool, 1) GRADE_KIND(char, 1) GRADE_KIND(signed char, 1) GRADE_KIND(unsigned char, 1)
GRADE_KIND(short, 1) GRADE_KIND(unsigned short, 1) GRADE_KIND(int, 1) GRADE_KIND(unsigned, 1)
GRADE_KIND(long, 1) GRADE_KIND(unsigned long, 1) GRADE_KIND(long long, 1)
GRADE_KIND(unsigned long long, 1) GRADE_KIND(float, 2) GRADE_KIND(double, 3)
#undef GRADE_KIND
// Whether a call with A and B is one that only double serves.
template <class A, class B> __host__ __device__ constexpr bool mixed() {
  return kind<A>() && kind<B>() && !(kind<A>() == kind<B>() && kind<A>() > 1);
}
}  // namespace grade_overloads

#define GRADE_WHOLE(name)                                                                        \
  template <class T>                                                                             \
  __device__ inline typename grade_overloads::when<grade_overloads::kind<T>() == 1,              \
                                                   double>::type name(T x) {                     \
    return name((double)x);                                                                      \
  }
#define GRADE_MIXED(name)                                                                        \
  template <class A, class B>                                                                    \
  __device__ inline typename grade_overloads::when<grade_overloads::mixed<A, B>(),               \
                                                   double>::type name(A x, B y) {                \
    return name((double)x, (double)y);                                                           \
  }
GRADE_WHOLE(acos) GRADE_WHOLE(acosh) GRADE_WHOLE(asin) GRADE_WHOLE(asinh) GRADE_WHOLE(atan)
GRADE_WHOLE(atanh) GRADE_WHOLE(cbrt) GRADE_WHOLE(ceil) GRADE_WHOLE(cos) GRADE_WHOLE(cosh)
GRADE_WHOLE(erf) GRADE_WHOLE(erfc) GRADE_WHOLE(exp) GRADE_WHOLE(exp2) GRADE_WHOLE(expm1)
GRADE_WHOLE(fabs) GRADE_WHOLE(floor) GRADE_WHOLE(lgamma) GRADE_WHOLE(log) GRADE_WHOLE(log10)
GRADE_WHOLE(log1p) GRADE_WHOLE(log2) GRADE_WHOLE(logb) GRADE_WHOLE(nearbyint) GRADE_WHOLE(rint)
GRADE_WHOLE(round) GRADE_WHOLE(sin) GRADE_WHOLE(sinh) GRADE_WHOLE(sqrt) GRADE_WHOLE(tan)
GRADE_WHOLE(tanh) GRADE_WHOLE(tgamma) GRADE_WHOLE(trunc)
GRADE_MIXED(atan2) GRADE_MIXED(copysign) GRADE_MIXED(fdim) GRADE_MIXED(fmax) GRADE_MIXED(fmin)
GRADE_MIXED(fmod) GRADE_MIXED(hypot) GRADE_MIXED(nextafter) GRADE_MIXED(pow)
GRADE_MIXED(remainder)
#undef GRADE_WHOLE
#undef GRADE_MIXED
