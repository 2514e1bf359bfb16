// cuBLASLt: its types only.
#pragma once
#include "cublas_v2.h"
typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct cublasLtMatmulDesc* cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayout* cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreference* cublasLtMatmulPreference_t;
GRADE_CUBLAS(cublasLtCreate);
GRADE_CUBLAS(cublasLtDestroy);
GRADE_CUBLAS(cublasLtMatmul);
