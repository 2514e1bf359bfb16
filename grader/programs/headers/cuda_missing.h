// What the virtual GPU does not serve, by name. The compiler names the line that uses it: as an
// error where nothing can run without it, as a warning where the program may never get there; then
// the run ends when it does (`grade_missing`).
#pragma once
#define GRADE_UNSERVED(what) __attribute__((unavailable(what " is not served by the virtual GPU")))
#define GRADE_MISSING(what, ...) GRADE_UNSERVED(what) __VA_ARGS__
#define GRADE_MISSING_CALL(what, name) \
  template <class... T> GRADE_UNSERVED(what) cudaError_t name(T...);
#define GRADE_ENDS_THE_RUN(what, result, name)                                             \
  template <class... T>                                                                    \
  __attribute__((noinline, deprecated(what " is not served by the virtual GPU"))) result name(T...) { \
    grade_missing(what ": " #name, __builtin_return_address(0));                           \
    return {};                                                                             \
  }

// graphs
typedef unsigned long long cudaGraphConditionalHandle GRADE_UNSERVED("a conditional node");
struct GRADE_UNSERVED("a CUDA graph's own memory") cudaMemAllocNodeParams;
GRADE_MISSING_CALL("a conditional node", cudaGraphConditionalHandleCreate)
GRADE_MISSING_CALL("a CUDA graph's own memory", cudaGraphAddMemAllocNode)
GRADE_MISSING_CALL("a CUDA graph's own memory", cudaGraphAddMemFreeNode)
GRADE_MISSING_CALL("a CUDA graph's own memory", cudaDeviceGraphMemTrim)
GRADE_MISSING_CALL("a CUDA graph's own memory", cudaDeviceGetGraphMemAttribute)
GRADE_MISSING_CALL("capture into a graph that exists", cudaStreamBeginCaptureToGraph)
GRADE_MISSING_CALL("a change of what a capture waits for", cudaStreamUpdateCaptureDependencies)
GRADE_MISSING_CALL("a graph written as DOT", cudaGraphDebugDotPrint)
GRADE_MISSING_CALL("a graph node's attribute", cudaGraphKernelNodeSetAttribute)
GRADE_MISSING_CALL("a graph node's attribute", cudaGraphKernelNodeGetAttribute)
GRADE_MISSING_CALL("cudaGraphInstantiateWithParams", cudaGraphInstantiateWithParams)

// textures: those without objects, which CUDA 12 has dropped, and the rare kinds
template <class T, int dimensions = 1, int mode = 0>
struct GRADE_UNSERVED("a texture reference") texture {};
template <class T, int dimensions = 1>
struct GRADE_UNSERVED("a surface reference") surface {};
GRADE_MISSING_CALL("a texture reference", cudaBindTexture)
GRADE_MISSING_CALL("a texture reference", cudaBindTexture2D)
GRADE_MISSING_CALL("a texture reference", cudaBindTextureToArray)
GRADE_MISSING_CALL("a texture reference", cudaUnbindTexture)
typedef struct cudaMipmappedArray* cudaMipmappedArray_t GRADE_UNSERVED("a mipmapped array");
GRADE_MISSING_CALL("a mipmapped array", cudaMallocMipmappedArray)
GRADE_MISSING_CALL("a mipmapped array", cudaGetMipmappedArrayLevel)
GRADE_MISSING_CALL("a mipmapped array", cudaFreeMipmappedArray)

// graphics, other processes
struct GRADE_UNSERVED("graphics") cudaGraphicsResource;
typedef struct cudaGraphicsResource* cudaGraphicsResource_t GRADE_UNSERVED("graphics");
GRADE_MISSING_CALL("graphics", cudaGraphicsGLRegisterBuffer)
GRADE_MISSING_CALL("graphics", cudaGLSetGLDevice)
struct GRADE_UNSERVED("memory of another process") cudaIpcMemHandle_t;
GRADE_MISSING_CALL("memory of another process", cudaIpcGetMemHandle)
GRADE_MISSING_CALL("memory of another process", cudaIpcOpenMemHandle)
