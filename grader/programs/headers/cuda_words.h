// CUDA's words for the host half of a program.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// The host reaches it like any variable of its own; host.c finds it by its section.
#define __managed__ __attribute__((device, used, section("grade_managed")))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
// Not in C++ files: the C++ library writes `__attribute__((__noinline__))`.
#if defined(__CUDACC__) && !defined(__noinline__)
#define __noinline__ __attribute__((noinline))
#endif
#define __inline_hint__
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define CUDART_CB
#define CUDARTAPI
#define GRADE_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()
