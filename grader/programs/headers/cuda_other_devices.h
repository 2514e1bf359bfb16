// What concerns several devices: here is one, and calls that name another fail as CUDA's do.
#pragma once
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int other, GRADE_AT) {
  *can = 0;
  return grade::Call(device | other)("cudaDeviceCanAccessPeer", file, line);
}
inline cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags, GRADE_AT) {
  return grade::Call(device, flags)("cudaDeviceEnablePeerAccess", file, line);
}
inline cudaError_t cudaDeviceDisablePeerAccess(int device, GRADE_AT) {
  return grade::Call(device, 0)("cudaDeviceEnablePeerAccess", file, line);
}
inline cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device, int other,
                                             GRADE_AT) {
  *value = 0;
  return grade::Call(device == other ? 1 : device | other)("cudaDeviceGetP2PAttribute", file, line);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                       size_t bytes, cudaStream_t stream = 0, GRADE_AT) {
  if (to_device | from_device)
    return grade::Call(to_device | from_device)("cudaMemcpyPeer", file, line);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream, file, line);
}
inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                  size_t bytes, GRADE_AT) {
  if (to_device | from_device)
    return grade::Call(to_device | from_device)("cudaMemcpyPeer", file, line);
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice, file, line);
}
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*, GRADE_AT) {
  *device = 0;
  return grade::Call(0)("cudaChooseDevice", file, line);
}
inline cudaError_t cudaDeviceGetPCIBusId(char* text, int room, int device, GRADE_AT) {
  cudaError_t e = grade::Call(device)("cudaDeviceGetPCIBusId", file, line);
  if (e == cudaSuccess) snprintf(text, room, "0000:00:00.0");
  return e;
}
