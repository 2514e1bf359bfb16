// cuBLAS: types and handles.
#pragma once
#include "cuda_runtime.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
typedef struct cublasContext* cublasHandle_t;
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73, CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cudaDataType_t {
  CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3, CUDA_C_32F = 4, CUDA_C_64F = 5,
  CUDA_R_8U = 8, CUDA_R_32I = 10, CUDA_R_32U = 12, CUDA_R_16BF = 14
};
typedef cudaDataType_t cudaDataType;
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
inline cublasStatus_t cublasCreate(cublasHandle_t* h) { return *h = nullptr, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
// A computation: the compiler warns, and the run ends where one is reached.
#define GRADE_CUBLAS(name) GRADE_ENDS_THE_RUN("cuBLAS", cublasStatus_t, name)
GRADE_CUBLAS(cublasSgemm)
GRADE_CUBLAS(cublasDgemm)
GRADE_CUBLAS(cublasHgemm)
GRADE_CUBLAS(cublasSgemm_v2)
GRADE_CUBLAS(cublasSgemv)
GRADE_CUBLAS(cublasDgemv)
GRADE_CUBLAS(cublasSaxpy)
GRADE_CUBLAS(cublasDaxpy)
GRADE_CUBLAS(cublasSdot)
GRADE_CUBLAS(cublasDdot)
GRADE_CUBLAS(cublasSscal)
GRADE_CUBLAS(cublasDscal)
GRADE_CUBLAS(cublasSnrm2)
GRADE_CUBLAS(cublasDnrm2)
GRADE_CUBLAS(cublasSasum)
GRADE_CUBLAS(cublasIsamax)
GRADE_CUBLAS(cublasScopy)
GRADE_CUBLAS(cublasSger)
GRADE_CUBLAS(cublasSgeam)
GRADE_CUBLAS(cublasGemmEx)
GRADE_CUBLAS(cublasSgemmStridedBatched)
GRADE_CUBLAS(cublasSgemmBatched)
GRADE_CUBLAS(cublasGemmStridedBatchedEx)
GRADE_CUBLAS(cublasSetVector)
GRADE_CUBLAS(cublasGetVector)
GRADE_CUBLAS(cublasSetMatrix)
GRADE_CUBLAS(cublasGetMatrix)
