// Stream-ordered allocation. Memory comes from one pool, at once; a stream's order is kept by the
// order of the calls.
#pragma once
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies, cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrReservedMemHigh,
  cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh
};
#define GRADE_POOL ((cudaMemPool_t)1)
template <class T>
inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t s, GRADE_AT) {
  grade_no_memory_nodes(s, "cudaMallocAsync", file, line);
  return cudaMalloc((void**)(void*)p, bytes, file, line);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaMemPool_t, cudaStream_t s, GRADE_AT) {
  grade_no_memory_nodes(s, "cudaMallocAsync", file, line);
  return cudaMalloc((void**)(void*)p, bytes, file, line);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** p, size_t bytes, cudaMemPool_t, cudaStream_t s,
                                           GRADE_AT) {
  grade_no_memory_nodes(s, "cudaMallocFromPoolAsync", file, line);
  return cudaMalloc((void**)(void*)p, bytes, file, line);
}
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t s, GRADE_AT) {
  grade_no_memory_nodes(s, "cudaFreeAsync", file, line);
  return cudaFree(p, file, line);
}
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device, GRADE_AT) {
  *pool = GRADE_POOL;
  return grade::Call(device)("cudaDeviceGetDefaultMemPool", file, line);
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device, GRADE_AT) {
  return cudaDeviceGetDefaultMemPool(pool, device, file, line);
}
inline cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t, GRADE_AT) {
  return grade::Call(device)("cudaDeviceSetMemPool", file, line);
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void*,
                                           GRADE_AT) {
  return grade::Call((int)attribute)("cudaMemPoolSetAttribute", file, line);
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void* value,
                                           GRADE_AT) {
  grade::Call c((int)attribute);
  cudaError_t e = c("cudaMemPoolGetAttribute", file, line);
  if (attribute < cudaMemPoolAttrReleaseThreshold) *(int*)value = 1;
  else *(uint64_t*)value = c.results[0];
  return e;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t bytes, GRADE_AT) {
  return grade::Call(bytes)("cudaMemPoolTrimTo", file, line);
}
