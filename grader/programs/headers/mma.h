// Tensor cores as the host sees them: names only.
#pragma once
#include "cuda_fp16.h"
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
}  // namespace wmma
}  // namespace nvcuda
