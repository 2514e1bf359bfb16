// What public samples expect of a header of this name, written anew: checks that name the call.
#pragma once
#include "cuda_runtime.h"
#include <helper_string.h>
#include <stdio.h>
#include <stdlib.h>
namespace grade {
// Statuses of libraries too: their numbers alone are told.
template <class T>
inline void check(T status, const char* call, const char* file, int line) {
  if (!(int)status) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)status,
          cudaGetErrorName((cudaError_t)(int)status), call);
  exit(EXIT_FAILURE);
}
}  // namespace grade
#define checkCudaErrors(call) grade::check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message)                                                                 \
  do {                                                                                            \
    cudaError_t grade_status = cudaGetLastError();                                                \
    if (grade_status != cudaSuccess) {                                                            \
      fprintf(stderr, "%s(%d): %s: (%d) %s\n", __FILE__, __LINE__, (message), (int)grade_status,  \
              cudaGetErrorString(grade_status));                                                  \
      exit(EXIT_FAILURE);                                                                         \
    }                                                                                             \
  } while (0)
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
inline int findCudaDevice(int, const char**) {
  cudaDeviceProp p;
  checkCudaErrors(cudaGetDeviceProperties(&p, 0));
  printf("GPU Device 0: \"%s\" with compute capability %d.%d\n\n", p.name, p.major, p.minor);
  return 0;
}
inline int findCudaDevice(int n, char** v) { return findCudaDevice(n, (const char**)v); }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int device) { return device < 0 ? 0 : device; }
inline int _ConvertSMVer2Cores(int, int) { return 64; }
inline bool checkCudaCapabilities(int major, int minor) {
  return major < 8 || (major == 8 && minor <= 0);
}
inline float _ConvertSMVer2ArchName(int, int) { return 8.0f; }
