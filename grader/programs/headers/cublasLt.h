// cuBLASLt: types and handles.
#pragma once
#include "cublas_v2.h"
typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct cublasLtMatmulDesc* cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayout* cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreference* cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t { uint64_t data[8]; };
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU = 2, CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6, CUBLASLT_EPILOGUE_GELU = 32, CUBLASLT_EPILOGUE_GELU_BIAS = 36
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7, CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };
GRADE_CUBLAS(cublasLtMatmul)
GRADE_CUBLAS(cublasLtMatmulDescCreate)
GRADE_CUBLAS(cublasLtMatmulDescDestroy)
GRADE_CUBLAS(cublasLtMatmulDescSetAttribute)
GRADE_CUBLAS(cublasLtMatrixLayoutCreate)
GRADE_CUBLAS(cublasLtMatrixLayoutDestroy)
GRADE_CUBLAS(cublasLtMatmulPreferenceCreate)
GRADE_CUBLAS(cublasLtMatmulPreferenceDestroy)
GRADE_CUBLAS(cublasLtMatmulPreferenceSetAttribute)
GRADE_CUBLAS(cublasLtMatmulAlgoGetHeuristic)
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* h) { return *h = nullptr, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
