// CUDA arrays, texture objects and surface objects.
#pragma once
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaArrayTextureGather 8
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode {
  cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaResourceType {
  cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
enum cudaResourceViewFormat { cudaResViewFormatNone };
struct cudaResourceViewDesc {
  cudaResourceViewFormat format;
  size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
  unsigned flags;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
namespace grade {
template <class T> struct Channels;  // of a texel: how many, bits of each, kind
#define GRADE_CHANNELS(T, count, type, kind_)                                     \
  template <> struct Channels<T> {                                                \
    enum { number = count, bits = 8 * sizeof(type), kind = cudaChannelFormatKind##kind_ }; \
  };
#define GRADE_VECTORS(base, type, kind)                                           \
  GRADE_CHANNELS(base##1, 1, type, kind) GRADE_CHANNELS(base##2, 2, type, kind)   \
  GRADE_CHANNELS(base##4, 4, type, kind)
GRADE_CHANNELS(char, 1, char, Signed)
GRADE_CHANNELS(signed char, 1, char, Signed)
GRADE_CHANNELS(unsigned char, 1, char, Unsigned)
GRADE_CHANNELS(short, 1, short, Signed)
GRADE_CHANNELS(unsigned short, 1, short, Unsigned)
GRADE_CHANNELS(int, 1, int, Signed)
GRADE_CHANNELS(unsigned, 1, int, Unsigned)
GRADE_CHANNELS(float, 1, float, Float)
GRADE_VECTORS(char, char, Signed)
GRADE_VECTORS(uchar, char, Unsigned)
GRADE_VECTORS(short, short, Signed)
GRADE_VECTORS(ushort, short, Unsigned)
GRADE_VECTORS(int, int, Signed)
GRADE_VECTORS(uint, int, Unsigned)
GRADE_VECTORS(float, float, Float)
#undef GRADE_VECTORS
#undef GRADE_CHANNELS
}  // namespace grade
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef grade::Channels<T> C;
  int b = C::bits, n = C::number;
  return {b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0, (cudaChannelFormatKind)C::kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}

// ---- arrays ------------------------------------------------------------------------------------
namespace grade {
inline size_t texel_bytes(const cudaChannelFormatDesc& f) { return (f.x + f.y + f.z + f.w) / 8; }
inline cudaError_t array(const char* name, cudaArray_t* array, const cudaChannelFormatDesc* format,
                         cudaExtent extent, unsigned flags, const char* file, int line) {
  size_t height = extent.height ? extent.height : 1, depth = extent.depth ? extent.depth : 1;
  size_t texel = texel_bytes(*format), pitch = extent.width * texel;
  if (flags & cudaArrayCubemap)
    grade_missing("a cubemap: cudaMalloc3DArray", __builtin_return_address(0));
  Call c(pitch * height * depth, texel);
  cudaError_t e = c(name, file, line);
  if (e != cudaSuccess) return e;
  *array = new cudaArray{*format, extent, flags, (char*)c.results[0], texel, pitch, pitch * height};
  return e;
}
}  // namespace grade
inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                   size_t width, size_t height = 0, unsigned flags = 0, GRADE_AT) {
  return grade::array("cudaMallocArray", array, format, {width, height, 0}, flags, file, line);
}
inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned flags = 0, GRADE_AT) {
  return grade::array("cudaMalloc3DArray", array, format, extent, flags, file, line);
}
inline cudaError_t cudaFreeArray(cudaArray_t array, GRADE_AT) {
  // What it says of itself stays: a later use is an error, not a crash.
  return grade::Call(array ? array->texels : nullptr)("cudaFreeArray", file, line);
}
inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                    unsigned* flags, cudaArray_t array) {
  if (format) *format = array->format;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return cudaSuccess;
}
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return *format = array->format, cudaSuccess;
}
namespace grade {
inline char* in(cudaArray_const_t a, size_t x, size_t y) { return a->texels + y * a->pitch + x; }
}  // namespace grade
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                       size_t pitch, size_t width, size_t height,
                                       cudaMemcpyKind kind, GRADE_AT) {
  return grade::copy("cudaMemcpy2DToArray", {grade::in(to, x, y), to->pitch, 0, from, pitch, 0,
                                             width, height, 1, kind}, 0, false, file, line);
}
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                            size_t pitch, size_t width, size_t height,
                                            cudaMemcpyKind kind, cudaStream_t s = 0, GRADE_AT) {
  return grade::copy("cudaMemcpy2DToArrayAsync", {grade::in(to, x, y), to->pitch, 0, from, pitch, 0,
                                                  width, height, 1, kind}, s, true, file, line);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                         size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                         GRADE_AT) {
  return grade::copy("cudaMemcpy2DFromArray", {to, pitch, 0, grade::in(from, x, y), from->pitch, 0,
                                               width, height, 1, kind}, 0, false, file, line);
}
inline cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from,
                                              size_t x, size_t y, size_t width, size_t height,
                                              cudaMemcpyKind kind, cudaStream_t s = 0, GRADE_AT) {
  return grade::copy("cudaMemcpy2DFromArrayAsync", {to, pitch, 0, grade::in(from, x, y),
                                                    from->pitch, 0, width, height, 1, kind},
                     s, true, file, line);
}
inline cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y,
                                            cudaArray_const_t from, size_t from_x, size_t from_y,
                                            size_t width, size_t height,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToDevice,
                                            GRADE_AT) {
  return grade::copy("cudaMemcpy2DArrayToArray",
                     {grade::in(to, x, y), to->pitch, 0, grade::in(from, from_x, from_y),
                      from->pitch, 0, width, height, 1, kind}, 0, false, file, line);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t bytes, cudaMemcpyKind kind, GRADE_AT) {
  return grade::copy("cudaMemcpyToArray", grade::flat(grade::in(to, x, y), from, bytes, kind), 0,
                     false, file, line);
}
inline cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                          size_t bytes, cudaMemcpyKind kind, cudaStream_t s = 0,
                                          GRADE_AT) {
  return grade::copy("cudaMemcpyToArrayAsync", grade::flat(grade::in(to, x, y), from, bytes, kind),
                     s, true, file, line);
}
inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                       size_t bytes, cudaMemcpyKind kind, GRADE_AT) {
  return grade::copy("cudaMemcpyFromArray", grade::flat(to, grade::in(from, x, y), bytes, kind), 0,
                     false, file, line);
}

// ---- objects -----------------------------------------------------------------------------------
namespace grade {
inline void format(GradeTexture& t, const cudaChannelFormatDesc& f) {
  t.bits = f.x, t.kind = f.f;
  t.channels = 1 + (f.y > 0) + (f.z > 0) + (f.w > 0);
}
inline cudaError_t object(const char* name, unsigned long long* object, const cudaResourceDesc* r,
                          const cudaTextureDesc* d, const char* file, int line) {
  GradeTexture t = {};
  t.size[0] = t.size[1] = t.size[2] = 1;
  size_t width = 0, height = 1, depth = 1;
  if (r->resType == cudaResourceTypeArray) {
    cudaArray_const_t a = r->res.array.array;
    format(t, a->format);
    t.texels = (uint64_t)a->texels, t.pitch = a->pitch, t.slice = a->slice;
    width = a->extent.width;
    if (a->extent.height) height = a->extent.height;
    if (a->extent.depth) depth = a->extent.depth;
  } else if (r->resType == cudaResourceTypeLinear) {
    const auto& l = r->res.linear;
    format(t, l.desc);
    t.texels = (uint64_t)grade_device_pointer(l.devPtr);
    t.pitch = t.slice = l.sizeInBytes;
    width = l.sizeInBytes / (texel_bytes(l.desc) ? texel_bytes(l.desc) : 1);
  } else {
    const auto& p = r->res.pitch2D;
    format(t, p.desc);
    t.texels = (uint64_t)grade_device_pointer(p.devPtr);
    width = p.width, height = p.height, t.pitch = p.pitchInBytes, t.slice = height * t.pitch;
  }
  t.size[0] = (uint32_t)width, t.size[1] = (uint32_t)height, t.size[2] = (uint32_t)depth;
  if (d) {
    t.linear = d->filterMode == cudaFilterModeLinear, t.normalised = d->normalizedCoords != 0;
    bool integers = t.kind != cudaChannelFormatKindFloat && t.bits < 32;
    t.as_float = d->readMode == cudaReadModeNormalizedFloat && integers;
    for (int k = 0; k < 3; ++k) t.mode[k] = d->addressMode[k];
    memcpy(t.border, d->borderColor, sizeof t.border);
    if (d->sRGB) grade_missing("sRGB in a texture", __builtin_return_address(0));
  }
  Call c((int)r->resType, d ? (int)d->readMode : 0);
  cudaError_t e = c.with(&t, sizeof t)(name, file, line);
  if (e == cudaSuccess) *object = c.results[0];
  return e;
}
}  // namespace grade
inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* r,
                                           const cudaTextureDesc* d,
                                           const cudaResourceViewDesc* view, GRADE_AT) {
  if (view) grade_missing("a view of a texture", __builtin_return_address(0));
  return grade::object("cudaCreateTextureObject", object, r, d, file, line);
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object, GRADE_AT) {
  return grade::Call(object)("cudaDestroyTextureObject", file, line);
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* r,
                                           GRADE_AT) {
  return grade::object("cudaCreateSurfaceObject", object, r, nullptr, file, line);
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object, GRADE_AT) {
  return grade::Call(object)("cudaDestroySurfaceObject", file, line);
}
