// threadIdx, blockIdx, blockDim, gridDim and warpSize: special registers of PTX.
#pragma once

#define GRADE_PLACE(type, register)                                                             \
  struct type {                                                                                 \
    __declspec(property(get = get_x)) unsigned x;                                               \
    __declspec(property(get = get_y)) unsigned y;                                               \
    __declspec(property(get = get_z)) unsigned z;                                               \
    GRADE_MEMBER static unsigned get_x() { return __nvvm_read_ptx_sreg_##register##_x(); }      \
    GRADE_MEMBER static unsigned get_y() { return __nvvm_read_ptx_sreg_##register##_y(); }      \
    GRADE_MEMBER static unsigned get_z() { return __nvvm_read_ptx_sreg_##register##_z(); }      \
    GRADE_MEMBER operator uint3() const { return {get_x(), get_y(), get_z()}; }                 \
    GRADE_MEMBER operator dim3() const { return dim3(get_x(), get_y(), get_z()); }              \
  };
GRADE_PLACE(__grade_thread_place, tid)
GRADE_PLACE(__grade_block_place, ctaid)
GRADE_PLACE(__grade_block_size, ntid)
GRADE_PLACE(__grade_grid_size, nctaid)
#undef GRADE_PLACE
extern const __device__ __attribute__((weak)) __grade_thread_place threadIdx;
extern const __device__ __attribute__((weak)) __grade_block_place blockIdx;
extern const __device__ __attribute__((weak)) __grade_block_size blockDim;
extern const __device__ __attribute__((weak)) __grade_grid_size gridDim;
static constexpr int warpSize = 32;
