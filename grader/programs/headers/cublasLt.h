// cuBLASLt: types and handles.
#pragma once
#include "cublas_v2.h"
typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct cublasLtMatmulDesc* cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayout* cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreference* cublasLtMatmulPreference_t;
GRADE_CUBLAS(cublasLtMatmul);
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* h) { return *h = nullptr, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
