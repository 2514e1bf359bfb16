// The CUDA runtime API on the virtual GPU: what nvcc includes into every program.
//
// Every call carries the place it stands at (GRADE_AT), so that findings name the program's own
// line even where the call hides in a macro. What is not served is declared `unavailable`: the
// compiler names it.
#pragma once
#include "cuda_words.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "cuda_device_words.h"
#include <assert.h>
#include <host.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

extern "C" {
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                     cudaStream_t stream = 0, GRADE_AT);
unsigned __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream);
}

namespace grade {
struct Call {
  uint64_t numbers[16] = {}, results[16] = {};
  int count = 0;
  const void* payload = nullptr;
  size_t bytes = 0;
  void* back = nullptr;
  size_t room = 0;
  template <class... T>
  Call(T... values) { (void)((numbers[count++] = (uint64_t)values), ...); }
  Call& with(const void* data, size_t n) { payload = data, bytes = n; return *this; }
  Call& into(void* data, size_t n) { back = data, room = n; return *this; }
  cudaError_t operator()(const char* name, const char* file, int line) {
    return (cudaError_t)grade_call(name, file, line, numbers, count, payload, bytes, results, back,
                                   room);
  }
};
inline bool on_device(const void* p) {
  uint64_t a = (uint64_t)p;
  return (a >= 16ull << 36 && a < 512ull << 36) || (a >= 8192ull << 36 && a < 1ull << 52);
}
}  // namespace grade

// ---- errors ------------------------------------------------------------------------------------
inline cudaError_t cudaGetLastError(GRADE_AT) {
  return grade::Call()("cudaGetLastError", file, line);
}
inline cudaError_t cudaPeekAtLastError(GRADE_AT) {
  return grade::Call()("cudaPeekAtLastError", file, line);
}
inline const char* cudaGetErrorString(cudaError_t e) { return grade_text("error string", e); }
inline const char* cudaGetErrorName(cudaError_t e) { return grade_text("error name", e); }

// ---- devices -----------------------------------------------------------------------------------
inline cudaError_t cudaGetDeviceCount(int* count, GRADE_AT) {
  *count = 1;
  return grade::Call()("cudaGetDeviceCount", file, line);
}
inline cudaError_t cudaGetDevice(int* device, GRADE_AT) {
  *device = 0;
  return grade::Call()("cudaGetDevice", file, line);
}
inline cudaError_t cudaSetDevice(int device, GRADE_AT) {
  return grade::Call(device)("cudaSetDevice", file, line);
}
inline cudaError_t cudaSetDeviceFlags(unsigned flags, GRADE_AT) {
  return grade::Call(flags)("cudaSetDeviceFlags", file, line);
}
inline cudaError_t cudaDeviceSynchronize(GRADE_AT) {
  return grade::Call()("cudaDeviceSynchronize", file, line);
}
inline cudaError_t cudaThreadSynchronize(GRADE_AT) {
  return grade::Call()("cudaDeviceSynchronize", file, line);
}
inline cudaError_t cudaDeviceReset(GRADE_AT) {
  return grade::Call()("cudaDeviceReset", file, line);
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device, GRADE_AT) {
  cudaError_t e = grade::Call(device)("cudaGetDeviceProperties", file, line);
  if (e == cudaSuccess) *p = cudaDeviceProp{};
  return e;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device,
                                          GRADE_AT) {
  grade::Call c((int)attribute, device);
  cudaError_t e = c("cudaDeviceGetAttribute", file, line);
  *value = (int)c.results[0];
  return e;
}
inline cudaError_t cudaDriverGetVersion(int* v) { return *v = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* v) { return *v = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value, GRADE_AT) {
  return grade::Call((int)limit, value)("cudaDeviceSetLimit", file, line);
}
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit, GRADE_AT) {
  *value = limit == cudaLimitMallocHeapSize ? 8 << 20 : 1 << 10;
  return grade::Call((int)limit)("cudaDeviceGetLimit", file, line);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}

// ---- memory ------------------------------------------------------------------------------------
inline cudaError_t cudaMalloc(void** p, size_t bytes, GRADE_AT) {
  grade::Call c(bytes);
  cudaError_t e = c("cudaMalloc", file, line);
  if (e == cudaSuccess) *p = (void*)c.results[0];
  return e;
}
template <class T>
inline cudaError_t cudaMalloc(T** p, size_t bytes, GRADE_AT) {
  return cudaMalloc((void**)(void*)p, bytes, file, line);
}
inline cudaError_t cudaFree(void* p, GRADE_AT) {
  cudaError_t e = grade::Call(p)("cudaFree", file, line);
  if (grade_is_shared(p)) grade_unshare((uint64_t)p);
  return e;
}
namespace grade {
inline cudaError_t shared(const char* name, void** p, size_t bytes, unsigned flags, int managed,
                          const char* file, int line) {
  Call c(bytes, flags);
  cudaError_t e = c(name, file, line);
  if (e != cudaSuccess) return e;
  *p = (void*)c.results[0];
  if (c.results[0] && !grade_share(c.results[0], bytes, managed)) return cudaErrorMemoryAllocation;
  return e;
}
}  // namespace grade
template <class T>
inline cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned flags = 1, GRADE_AT) {
  return grade::shared("cudaMallocManaged", (void**)(void*)p, bytes, flags, 1, file, line);
}
template <class T>
inline cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned flags = 0, GRADE_AT) {
  return grade::shared("cudaMallocHost", (void**)(void*)p, bytes, flags, 0, file, line);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned flags, GRADE_AT) {
  return grade::shared("cudaHostAlloc", (void**)(void*)p, bytes, flags, 0, file, line);
}
inline cudaError_t cudaFreeHost(void* p, GRADE_AT) {
  cudaError_t e = grade::Call(p)("cudaFreeHost", file, line);
  if (grade_is_shared(p)) grade_unshare((uint64_t)p);
  return e;
}
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags, GRADE_AT) {
  void* there = grade_device_pointer(host);
  cudaError_t e = grade::Call(there, flags)("cudaHostGetDevicePointer", file, line);
  if (e == cudaSuccess) *device = there;
  return e;
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags, GRADE_AT) {
  return cudaHostGetDevicePointer((void**)(void*)device, host, flags, file, line);
}
inline cudaError_t cudaHostRegister(void* p, size_t bytes, unsigned flags, GRADE_AT) {
  bool known = grade_device_pointer(p) != p;
  grade::Call c(p, bytes, flags, known);
  cudaError_t e = c("cudaHostRegister", file, line);
  if (e == cudaSuccess && !grade_register(p, bytes, c.results[0])) return cudaErrorMemoryAllocation;
  return e;
}
inline cudaError_t cudaHostUnregister(void* p, GRADE_AT) {
  void* there = grade_device_pointer(p);
  grade_unregister(p);
  return grade::Call(there)("cudaHostUnregister", file, line);
}
inline cudaError_t cudaMemGetInfo(size_t* left, size_t* total, GRADE_AT) {
  grade::Call c;
  cudaError_t e = c("cudaMemGetInfo", file, line);
  *left = c.results[0], *total = c.results[1];
  return e;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p, GRADE_AT) {
  void* there = grade_device_pointer(p);
  grade::Call c(there);
  cudaError_t e = c("cudaPointerGetAttributes", file, line);
  a->type = (cudaMemoryType)c.results[0];
  a->device = a->type == cudaMemoryTypeUnregistered ? -2 : 0;
  a->devicePointer = a->type == cudaMemoryTypeUnregistered ? nullptr : there;
  a->hostPointer = a->type == cudaMemoryTypeDevice ? nullptr : grade_host_pointer(p);
  return e;
}
inline cudaError_t cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height, GRADE_AT) {
  *pitch = (width + 511) / 512 * 512;
  grade::Call c(*pitch * height);
  cudaError_t e = c("cudaMallocPitch", file, line);
  if (e == cudaSuccess) *p = (void*)c.results[0];
  return e;
}
template <class T>
inline cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height, GRADE_AT) {
  return cudaMallocPitch((void**)(void*)p, pitch, width, height, file, line);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent e, GRADE_AT) {
  p->xsize = e.width, p->ysize = e.height;
  return cudaMallocPitch(&p->ptr, &p->pitch, e.width, e.height * e.depth, file, line);
}

// ---- copies ------------------------------------------------------------------------------------
namespace grade {
inline cudaError_t copy(const char* name, const GradeCopy& what, cudaStream_t stream, bool async,
                        const char* file, int line) {
  GradeWork w = {GRADE_COPY, name, file, line};
  w.copy = what;
  return (cudaError_t)grade_work(&w, stream, async);
}
inline GradeCopy flat(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return {to, bytes, 0, from, bytes, 0, bytes, 1, 1, kind};
}
// One side of a copy of boxes: an array counts in its elements, other memory in bytes.
struct Box { char* first; size_t pitch, slice; };
inline Box box(cudaArray_t array, const cudaPitchedPtr& p, const cudaPos& at) {
  size_t pitch = array ? array->pitch : p.pitch;
  size_t slice = array ? array->slice : p.pitch * p.ysize;
  char* first = array ? array->texels : (char*)p.ptr;
  return {first + at.z * slice + at.y * pitch + at.x * (array ? array->texel_bytes : 1), pitch,
          slice};
}
inline GradeCopy copy_of(const cudaMemcpy3DParms& p) {
  Box to = box(p.dstArray, p.dstPtr, p.dstPos), from = box(p.srcArray, p.srcPtr, p.srcPos);
  cudaArray_t array = p.dstArray ? p.dstArray : p.srcArray;
  size_t width = p.extent.width * (array ? array->texel_bytes : 1);
  return {to.first, to.pitch, to.slice, from.first, from.pitch, from.slice, width,
          p.extent.height, p.extent.depth, p.kind};
}
}  // namespace grade
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                              GRADE_AT) {
  return grade::copy("cudaMemcpy", grade::flat(to, from, bytes, kind), 0, false, file, line);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = 0, GRADE_AT) {
  return grade::copy("cudaMemcpyAsync", grade::flat(to, from, bytes, kind), stream, true, file,
                     line);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind kind, GRADE_AT) {
  return grade::copy("cudaMemcpy2D", {to, to_pitch, 0, from, from_pitch, 0, width, height, 1, kind},
                     0, false, file, line);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = 0, GRADE_AT) {
  return grade::copy("cudaMemcpy2DAsync",
                     {to, to_pitch, 0, from, from_pitch, 0, width, height, 1, kind}, stream, true,
                     file, line);
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p, GRADE_AT) {
  return grade::copy("cudaMemcpy3D", grade::copy_of(*p), 0, false, file, line);
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream = 0,
                                     GRADE_AT) {
  return grade::copy("cudaMemcpy3DAsync", grade::copy_of(*p), stream, true, file, line);
}

namespace grade {
inline cudaError_t symbol(const char* name, const void* shadow, const void* data, size_t bytes,
                          size_t offset, cudaMemcpyKind kind, bool out, cudaStream_t stream,
                          bool async, const char* file, int line) {
  GradeWork w = {GRADE_SYMBOL, name, file, line};
  w.symbol = {shadow, (void*)data, bytes, offset, kind, out};
  return (cudaError_t)grade_work(&w, stream, async);
}
}  // namespace grade
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice, GRADE_AT) {
  return grade::symbol("cudaMemcpyToSymbol", (const void*)&symbol, from, bytes, offset, kind, false,
                       0, false, file, line);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0, GRADE_AT) {
  return grade::symbol("cudaMemcpyToSymbolAsync", (const void*)&symbol, from, bytes, offset, kind,
                       false, stream, true, file, line);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost, GRADE_AT) {
  return grade::symbol("cudaMemcpyFromSymbol", (const void*)&symbol, to, bytes, offset, kind, true,
                       0, false, file, line);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0, GRADE_AT) {
  return grade::symbol("cudaMemcpyFromSymbolAsync", (const void*)&symbol, to, bytes, offset, kind,
                       true, stream, true, file, line);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** p, const T& symbol, GRADE_AT) {
  const char* variable = grade_variable((const void*)&symbol);
  grade::Call c;
  c.with(variable, strlen(variable) + 1);
  cudaError_t e = c("cudaGetSymbolAddress", file, line);
  *p = (void*)c.results[0];
  return e;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol, GRADE_AT) {
  const char* variable = grade_variable((const void*)&symbol);
  grade::Call c;
  c.with(variable, strlen(variable) + 1);
  cudaError_t e = c("cudaGetSymbolAddress", file, line);
  *bytes = c.results[1];
  return e;
}

namespace grade {
inline cudaError_t fill(const char* name, void* p, size_t pitch, int value, size_t width,
                        size_t rows, cudaStream_t stream, bool async, const char* file, int line) {
  GradeWork w = {GRADE_FILL, name, file, line};
  w.fill = {p, pitch, width, rows, (unsigned)value & 0xff, 1};
  return (cudaError_t)grade_work(&w, stream, async);
}
}  // namespace grade
inline cudaError_t cudaMemset(void* p, int value, size_t bytes, GRADE_AT) {
  return grade::fill("cudaMemset", p, bytes, value, bytes, 1, 0, false, file, line);
}
inline cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream = 0,
                                   GRADE_AT) {
  return grade::fill("cudaMemsetAsync", p, bytes, value, bytes, 1, stream, true, file, line);
}
inline cudaError_t cudaMemset2D(void* p, size_t pitch, int value, size_t width, size_t height,
                                GRADE_AT) {
  return grade::fill("cudaMemset2D", p, pitch, value, width, height, 0, false, file, line);
}
inline cudaError_t cudaMemset2DAsync(void* p, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream = 0, GRADE_AT) {
  return grade::fill("cudaMemset2DAsync", p, pitch, value, width, height, stream, true, file, line);
}
inline cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent e, GRADE_AT) {
  return grade::fill("cudaMemset3D", p.ptr, p.pitch, value, e.width, e.height * e.depth, 0, false,
                     file, line);
}
inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent e,
                                     cudaStream_t stream = 0, GRADE_AT) {
  return grade::fill("cudaMemset3DAsync", p.ptr, p.pitch, value, e.width, e.height * e.depth,
                     stream, true, file, line);
}

// ---- launches ----------------------------------------------------------------------------------
namespace grade {
inline cudaError_t launch(const char* name, const void* kernel, dim3 grid, dim3 block,
                          void** arguments, size_t shared, cudaStream_t stream, const char* file,
                          int line) {
  GradeWork w = {GRADE_LAUNCH, name, file, line};
  w.launch = {kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, arguments};
  return (cudaError_t)grade_work(&w, stream, true);
}
}  // namespace grade
template <class T>
inline cudaError_t cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared = 0, cudaStream_t stream = 0, GRADE_AT) {
  return grade::launch("cudaLaunchKernel", (const void*)kernel, grid, block, arguments, shared,
                       stream, file, line);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared = 0, cudaStream_t stream = 0,
                                               GRADE_AT) {
  return grade::launch("cudaLaunchCooperativeKernel", (const void*)kernel, grid, block, arguments,
                       shared, stream, file, line);
}
namespace grade {
template <class T>
inline Call about(T* kernel) {
  const char* name = grade_kernel((const void*)kernel);
  Call c;
  return c.with(name, strlen(name) + 1);
}
}  // namespace grade
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value,
                                        GRADE_AT) {
  grade::Call c = grade::about(kernel);
  c.numbers[0] = attribute, c.numbers[1] = value, c.count = 2;
  return c("cudaFuncSetAttribute", file, line);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, T* kernel, GRADE_AT) {
  grade::Call c = grade::about(kernel);
  cudaError_t e = c("cudaFuncGetAttributes", file, line);
  a->numRegs = c.results[0], a->sharedSizeBytes = c.results[1], a->localSizeBytes = c.results[2];
  a->maxThreadsPerBlock = 1024, a->constSizeBytes = 0;
  a->ptxVersion = a->binaryVersion = 80, a->cacheModeCA = 0;
  a->maxDynamicSharedSizeBytes = c.results[3], a->preferredShmemCarveout = -1;
  return e;
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int block,
                                                                 size_t shared, GRADE_AT) {
  grade::Call c = grade::about(kernel);
  c.numbers[0] = block, c.numbers[1] = shared, c.count = 2;
  cudaError_t e = c("cudaOccupancyMaxActiveBlocksPerMultiprocessor", file, line);
  *blocks = (int)c.results[0];
  return e;
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T* kernel,
                                                      size_t shared = 0, int limit = 0, GRADE_AT) {
  int best = 0;
  *block = 32;
  for (int size = limit > 0 && limit < 1024 ? limit / 32 * 32 : 1024; size >= 32; size -= 32) {
    int blocks = 0;
    cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, size, shared,
                                                                  file, line);
    if (e != cudaSuccess) return e;
    if (blocks * size > best) best = blocks * size, *block = size, *grid = blocks * 108;
  }
  return cudaSuccess;
}

// ---- streams and events ------------------------------------------------------------------------
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int priority,
                                                GRADE_AT) {
  grade::Call c(flags, priority);
  cudaError_t e = c("cudaStreamCreate", file, line);
  *s = (cudaStream_t)c.results[0];
  return e;
}
inline cudaError_t cudaStreamCreate(cudaStream_t* s, GRADE_AT) {
  return cudaStreamCreateWithPriority(s, 0, 0, file, line);
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags, GRADE_AT) {
  return cudaStreamCreateWithPriority(s, flags, 0, file, line);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t s, GRADE_AT) {
  return grade::Call(s)("cudaStreamDestroy", file, line);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t s, GRADE_AT) {
  return grade::Call(s)("cudaStreamSynchronize", file, line);
}
inline cudaError_t cudaStreamQuery(cudaStream_t s, GRADE_AT) {
  return grade::Call(s)("cudaStreamQuery", file, line);
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned = 0, GRADE_AT) {
  return (cudaError_t)grade_event_wait(s, e, file, line);
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void* data, GRADE_AT) {
  GradeWork w = {GRADE_HOST, "cudaLaunchHostFunc", file, line};
  w.host = {function, data};
  return (cudaError_t)grade_work(&w, s, true);
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t function, void* data,
                                         unsigned, GRADE_AT) {
  cudaError_t e = grade::Call(s)("cudaLaunchHostFunc", file, line);
  function(s, e, data);
  return e;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags, GRADE_AT) {
  grade::Call c(flags);
  cudaError_t e = c("cudaEventCreate", file, line);
  *event = (cudaEvent_t)c.results[0];
  return e;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = 0, GRADE_AT) {
  return cudaEventCreateWithFlags(event, flags, file, line);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event, GRADE_AT) {
  return grade::Call(event)("cudaEventDestroy", file, line);
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t s = 0, GRADE_AT) {
  return (cudaError_t)grade_event_record(event, s, file, line);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event, GRADE_AT) {
  return grade::Call(event)("cudaEventSynchronize", file, line);
}
inline cudaError_t cudaEventQuery(cudaEvent_t event, GRADE_AT) {
  return grade::Call(event)("cudaEventQuery", file, line);
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b, GRADE_AT) {
  grade::Call c(a, b);
  cudaError_t e = c("cudaEventElapsedTime", file, line);
  double value;
  memcpy(&value, &c.results[0], 8);
  if (e == cudaSuccess) *ms = (float)value;
  return e;
}

// ---- the rest of the family ----------------------------------------------------------------------
#include "cuda_other_devices.h"
#include "cuda_memory_pools.h"
#include "cuda_hints.h"
#include "cuda_graphs.h"
#include "cuda_textures.h"
#include "cuda_missing.h"
