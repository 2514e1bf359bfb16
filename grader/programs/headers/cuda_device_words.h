// What `__host__ __device__` functions may name of the device: they are parsed for the host too.
// The bodies of functions for the device alone never reach this compiler.
#pragma once
#include <math.h>
#include "vector_types.h"
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned = 0xffffffff);
// libcu++ asks which memory an address lies in, in functions for host and device both.
__device__ unsigned __isGlobal(const void*);
__device__ unsigned __isShared(const void*);
__device__ unsigned __isConstant(const void*);
__device__ unsigned __isLocal(const void*);
__device__ unsigned __isGridConstant(const void*);
__device__ size_t __cvta_generic_to_global(const void*);
__device__ size_t __cvta_generic_to_shared(const void*);
__device__ size_t __cvta_generic_to_constant(const void*);
__device__ size_t __cvta_generic_to_local(const void*);
__device__ void* __cvta_global_to_generic(size_t);
__device__ void* __cvta_shared_to_generic(size_t);
__device__ void* __cvta_constant_to_generic(size_t);
__device__ void* __cvta_local_to_generic(size_t);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ unsigned __activemask();
__device__ int __ffs(int);
__device__ int __popc(unsigned);
__device__ int __clz(int);
__device__ void __nanosleep(unsigned);
template <class T> __device__ unsigned __match_any_sync(unsigned, T);
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __ldg(const T*);
template <class T, class U> __device__ T atomicAdd(T*, U);
template <class T, class U> __device__ T atomicMax(T*, U);
template <class T, class U> __device__ T atomicMin(T*, U);
template <class T, class U, class V> __device__ T atomicCAS(T*, U, V);
#define GRADE_LEAST(R, T, U)                                                  \
  static __host__ __device__ inline R min(T a, U b) { return (R)b < (R)a ? (R)b : (R)a; } \
  static __host__ __device__ inline R max(T a, U b) { return (R)a < (R)b ? (R)b : (R)a; }
#define GRADE_INTEGERS(T) \
  GRADE_LEAST(T, T, T)    \
  GRADE_LEAST(unsigned T, unsigned T, unsigned T) GRADE_LEAST(unsigned T, T, unsigned T) \
  GRADE_LEAST(unsigned T, unsigned T, T)
GRADE_INTEGERS(int) GRADE_INTEGERS(long) GRADE_INTEGERS(long long)
GRADE_LEAST(float, float, float) GRADE_LEAST(double, double, double)
GRADE_LEAST(double, float, double) GRADE_LEAST(double, double, float)
#undef GRADE_INTEGERS
#undef GRADE_LEAST
// Newer C libraries declare functions of these names, which the one linked does not have.
static __host__ __device__ inline float grade_rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static __host__ __device__ inline double grade_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
#define rsqrtf(x) grade_rsqrtf(x)
#define rsqrt(x) grade_rsqrt(x)
