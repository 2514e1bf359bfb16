// __half and __half2 on the host.
#pragma once
#include "cuda_small_floats.h"
GRADE_SMALL(__half, f16)
typedef __half half;
typedef __half2 half2;
static __host__ __device__ inline __half __float2half(float v) { return __half(v); }
static __host__ __device__ inline __half __float2half_rn(float v) { return __half(v); }
static __host__ __device__ inline __half __double2half(double v) { return __half(v); }
static __host__ __device__ inline float __half2float(__half v) { return v; }
GRADE_SMALL_WORDS(__half, __float22half2_rn, __half22float2, __low2half, __high2half, __half2half2,
                  __low2float, __high2float)
static __host__ __device__ inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
static __host__ __device__ inline __half2 make_half2(__half x, __half y) { return {x, y}; }
static __host__ __device__ inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
static __host__ __device__ inline __half2 __float2half2_rn(float v) { return {v, v}; }
