// The driver API: its types, since many programs include this without using it. A call is named by
// the compiler.
#pragma once
#include "cuda_runtime.h"
enum CUresult { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_INITIALIZED = 3 };
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
#define GRADE_DRIVER(name) template <class... T> GRADE_UNSERVED("the driver API") CUresult name(T...);
GRADE_DRIVER(cuInit)
GRADE_DRIVER(cuDriverGetVersion)
GRADE_DRIVER(cuDeviceGet)
GRADE_DRIVER(cuDeviceGetCount)
GRADE_DRIVER(cuDeviceGetName)
GRADE_DRIVER(cuDeviceGetAttribute)
GRADE_DRIVER(cuDeviceTotalMem)
GRADE_DRIVER(cuCtxCreate)
GRADE_DRIVER(cuCtxDestroy)
GRADE_DRIVER(cuCtxSetCurrent)
GRADE_DRIVER(cuCtxGetCurrent)
GRADE_DRIVER(cuCtxGetDevice)
GRADE_DRIVER(cuCtxSynchronize)
GRADE_DRIVER(cuDevicePrimaryCtxRetain)
GRADE_DRIVER(cuModuleLoad)
GRADE_DRIVER(cuModuleLoadData)
GRADE_DRIVER(cuModuleLoadDataEx)
GRADE_DRIVER(cuModuleUnload)
GRADE_DRIVER(cuModuleGetFunction)
GRADE_DRIVER(cuModuleGetGlobal)
GRADE_DRIVER(cuLaunchKernel)
GRADE_DRIVER(cuLaunchCooperativeKernel)
GRADE_DRIVER(cuMemAlloc)
GRADE_DRIVER(cuMemFree)
GRADE_DRIVER(cuMemcpyHtoD)
GRADE_DRIVER(cuMemcpyDtoH)
GRADE_DRIVER(cuMemcpyDtoD)
GRADE_DRIVER(cuMemsetD8)
GRADE_DRIVER(cuMemsetD32)
GRADE_DRIVER(cuMemCreate)
GRADE_DRIVER(cuMemMap)
GRADE_DRIVER(cuMemAddressReserve)
GRADE_DRIVER(cuMemGetAllocationGranularity)
GRADE_DRIVER(cuStreamCreate)
GRADE_DRIVER(cuStreamSynchronize)
GRADE_DRIVER(cuEventCreate)
GRADE_DRIVER(cuEventRecord)
GRADE_DRIVER(cuGetErrorString)
GRADE_DRIVER(cuGetErrorName)
#undef GRADE_DRIVER
