// Hints and marks: they say how a card should place or time things, which changes no result. They
// are checked for what CUDA checks, and do nothing.
#pragma once
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost,
  cudaMemLocationTypeHostNuma, cudaMemLocationTypeHostNumaCurrent
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, int device,
                                        cudaStream_t = 0, GRADE_AT) {
  return grade::Call(p, bytes, device)("cudaMemPrefetchAsync", file, line);
}
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation where,
                                        unsigned, cudaStream_t = 0, GRADE_AT) {
  return grade::Call(p, bytes, where.id)("cudaMemPrefetchAsync", file, line);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise, int, GRADE_AT) {
  return grade::Call(p, bytes)("cudaMemAdvise", file, line);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise, cudaMemLocation,
                                 GRADE_AT) {
  return grade::Call(p, bytes)("cudaMemAdvise", file, line);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, T* p, size_t bytes = 0,
                                            unsigned flags = cudaMemAttachSingle, GRADE_AT) {
  return grade::Call(s, p, bytes, flags)("cudaStreamAttachMemAsync", file, line);
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T*, cudaFuncCache) { return cudaSuccess; }
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T*, cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

enum cudaAccessProperty {
  cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
enum cudaStreamAttrID {
  cudaStreamAttributeAccessPolicyWindow = 1, cudaStreamAttributeSynchronizationPolicy = 3,
  cudaStreamAttributePriority = 8
};
union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
  int syncPolicy, priority;
};
inline cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaStreamAttrID attribute,
                                          const cudaStreamAttrValue*, GRADE_AT) {
  return grade::Call(s, (int)attribute)("cudaStreamSetAttribute", file, line);
}
inline cudaError_t cudaStreamGetPriority(cudaStream_t s, int* priority, GRADE_AT) {
  *priority = 0;
  return grade::Call(s)("cudaStreamGetPriority", file, line);
}
inline cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned* flags, GRADE_AT) {
  grade::Call c(s);
  cudaError_t e = c("cudaStreamGetFlags", file, line);
  *flags = (unsigned)c.results[0];
  return e;
}
