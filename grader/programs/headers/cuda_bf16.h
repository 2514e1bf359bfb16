// __nv_bfloat16 and its pair on the host.
#pragma once
#include "cuda_small_floats.h"
GRADE_SMALL(__nv_bfloat16, bf16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
static __host__ __device__ inline __nv_bfloat16 __float2bfloat16(float v) { return v; }
static __host__ __device__ inline __nv_bfloat16 __float2bfloat16_rn(float v) { return v; }
static __host__ __device__ inline float __bfloat162float(__nv_bfloat16 v) { return v; }
GRADE_SMALL_WORDS(__nv_bfloat16, __float22bfloat162_rn, __bfloat1622float2, __low2bfloat16,
                  __high2bfloat16, __bfloat162bfloat162, __low2float, __high2float)
static __host__ __device__ inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x,
                                                                    __nv_bfloat16 y) {
  return {x, y};
}
static __host__ __device__ inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
