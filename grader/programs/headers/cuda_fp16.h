// The toolkit's own header, as its host compilers see it.
#pragma once
#include "cuda_runtime.h"
#pragma push_macro("__CUDACC__")
#undef __CUDACC__
#include_next <cuda_fp16.h>
#pragma pop_macro("__CUDACC__")
