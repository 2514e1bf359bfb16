// What NVRTC predefines, for clang: included before every CUDA C file.
//
// cuda_words.h       __global__ and its kin, the types and calls that need no header
// cuda_vectors.h     float4, dim3, make_float4 ...
// cuda_places.h      threadIdx and its kin
// cuda_maths.h       sinf, sqrt, fmax ...
// cuda_intrinsics.h  __expf, __float2int_rn, __popc ...
// cuda_threads.h     barriers, fences, warp functions, clocks
// cuda_atomics.h     atomicAdd ...
//
// Helpers are `nodebug`: an access inside one is an access on the student's line.
#pragma once
#include "cuda_words.h"
#include "cuda_vectors.h"
#include "cuda_places.h"
#include "cuda_maths.h"
#include "cuda_intrinsics.h"
#include "cuda_threads.h"
#include "cuda_atomics.h"
