"""Textures, surfaces and CUDA arrays: programs that check themselves, and what is found in them.

The expected values are the CUDA C++ Programming Guide's formulas ("Texture Fetching"), computed on
the host in another way than the engine does: coordinates are folded there, texel indices here.
"""

from __future__ import annotations

import pytest

from grader.programs.run import Outcome
from tests.programs.running import needs_host, outcome
from tests.programs.test_graphs import _quick
from tests.programs.test_runtime_api import CHECK

pytestmark = needs_host

TOOLS = """
#include <cmath>
static cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  return r;
}
template <class T> static cudaResourceDesc of(T* memory, size_t bytes) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory;
  r.res.linear.desc = cudaCreateChannelDesc<T>(), r.res.linear.sizeInBytes = bytes;
  return r;
}
static cudaTextureObject_t texture_of(cudaResourceDesc r, cudaTextureDesc d = {}) {
  cudaTextureObject_t t = 0;
  expect(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaSuccess);
  return t;
}
template <class T>
static cudaArray_t array_of(const T* texels, int width, int height, unsigned flags = 0) {
  cudaArray_t a;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<T>();
  expect(cudaMallocArray(&a, &f, width, height, flags) == cudaSuccess);
  size_t row = width * sizeof(T);
  if (texels)
    expect(cudaMemcpy2DToArray(a, 0, 0, texels, row, row, height ? height : 1,
                               cudaMemcpyHostToDevice) == cudaSuccess);
  return a;
}
static float* out;
static float got[256];
static void fetch_back(int n) {
  expect(cudaMemcpy(got, out, n * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
}
"""

PROGRAMS: dict[str, str] = {
    "linear memory": """
__global__ void read(cudaTextureObject_t f, cudaTextureObject_t u, cudaTextureObject_t c,
                     float* out) {
  int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(f, i - 2);
  uint2 pair = tex1Dfetch<uint2>(u, i % 8);
  out[16 + i] = pair.x + 1000.f * pair.y;
  float4 colour = tex1Dfetch<float4>(c, i % 4);
  out[32 + i] = colour.x + 2 * colour.w;
}
int main() {
  float f[8], *df;
  uint2 u[8], *du;
  uchar4 c[4], *dc;
  for (int i = 0; i < 8; ++i) f[i] = i + 1, u[i] = make_uint2(i, 2 * i);
  for (int i = 0; i < 4; ++i) c[i] = make_uchar4(51 * i, 0, 0, 255);
  cudaMalloc(&out, 48 * 4), cudaMalloc(&df, sizeof f), cudaMalloc(&du, sizeof u);
  cudaMalloc(&dc, sizeof c);
  cudaMemcpy(df, f, sizeof f, cudaMemcpyHostToDevice);
  cudaMemcpy(du, u, sizeof u, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice);
  cudaTextureDesc fractions = {};
  fractions.readMode = cudaReadModeNormalizedFloat;
  read<<<1, 16>>>(texture_of(of(df, sizeof f)), texture_of(of(du, sizeof u)),
                  texture_of(of(dc, sizeof c), fractions), out);
  fetch_back(48);
  for (int i = 0; i < 16; ++i) {
    expect(got[i] == (i < 2 || i > 9 ? 0 : i - 1));  // zero outside
    expect(got[16 + i] == i % 8 + 2000 * (i % 8));
    expect(got[32 + i] == 51 * (i % 4) / 255.f + 2);
  }
  cudaFree(out), cudaFree(df), cudaFree(du), cudaFree(dc);
  return 0;
}
""",
    "modes and filters": """
__global__ void along(cudaTextureObject_t t, float* out, float from, float step) {
  out[threadIdx.x] = tex1D<float>(t, from + step * threadIdx.x);
}
// The guide's way: the coordinate is folded, then texels are taken.
static double folded(double x, int n, int mode) {
  if (mode == cudaAddressModeWrap) x = x - floor(x);
  if (mode == cudaAddressModeMirror) {
    double whole = floor(x);
    x = fmod(fabs(whole), 2) == 0 ? x - whole : 1 - (x - whole);
  }
  return x * n;
}
static double at(const float* t, int i, int n, int mode, float border) {
  if (mode == cudaAddressModeBorder && (i < 0 || i >= n)) return border;
  if (mode == cudaAddressModeWrap) return t[(i + n) % n];
  return t[i < 0 ? 0 : i >= n ? n - 1 : i];
}
int main() {
  const int n = 8;
  float t[n];
  for (int i = 0; i < n; ++i) t[i] = (i * 37 % 11) - 4.f;
  cudaMalloc(&out, 256 * 4);
  cudaArray_t a = array_of(t, n, 0);
  for (int mode = 0; mode < 4; ++mode)
    for (int linear = 0; linear < 2; ++linear)
      for (int normalised = 0; normalised < 2; ++normalised) {
        cudaTextureDesc d = {};
        d.addressMode[0] = (cudaTextureAddressMode)mode, d.normalizedCoords = normalised;
        d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        d.borderColor[0] = 2.5f;
        cudaTextureObject_t object = texture_of(of(a), d);
        int kind = !normalised && mode != cudaAddressModeBorder ? cudaAddressModeClamp : mode;
        float step = normalised ? 1 / 64.f : 1 / 16.f, from = -60 * step;
        along<<<1, 256>>>(object, out, from, step);
        fetch_back(256);
        for (int k = 0; k < 256; ++k) {
          double x = from + step * k, u = normalised ? folded(x, n, kind) : x;
          int i = (int)floor(linear ? u - 0.5 : u);
          double second = linear ? floor((u - 0.5 - i) * 256 + 0.5) / 256 : 0;
          double want = at(t, i, n, kind, 2.5f) * (1 - second);
          if (second) want += at(t, i + 1, n, kind, 2.5f) * second;
          expect(fabs(got[k] - want) < 1e-6);
        }
        expect(cudaDestroyTextureObject(object) == cudaSuccess);
        expect(cudaDestroyTextureObject(object) == cudaErrorInvalidValue);
      }
  expect(cudaFreeArray(a) == cudaSuccess);
  cudaFree(out);
  return 0;
}
""",
    "more axes": """
__global__ void plane(cudaTextureObject_t t, float* out) {
  int x = threadIdx.x, y = threadIdx.y, k = y * 4 + x;
  out[k] = tex2D<float>(t, x + 0.75f, y + 1.0f);
  float4 corner = tex2Dgather<float4>(t, x + 1.f, y + 1.f, 0);
  out[16 + k] = corner.x + 10 * corner.y + 100 * corner.z + 1000 * corner.w;
  out[32 + k] = tex2DLod<float>(t, x + 0.5f, y + 0.5f, 0);
}
__global__ void solid(cudaTextureObject_t t, cudaTextureObject_t layers, float* out) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, k = (z * 2 + y) * 4 + x;
  out[k] = tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.5f);
  out[16 + k] = tex3D<float>(t, x + 1.0f, 1.0f, 1.0f);
  out[32 + k] = tex2DLayered<float>(layers, x, y, z + 1);
  out[48 + k] = tex2DLayered<float>(layers, x + 0.6f, y, -3);
}
int main() {
  float t[16];
  for (int i = 0; i < 16; ++i) t[i] = i;
  cudaMalloc(&out, 64 * 4);
  cudaTextureDesc linear = {};
  linear.filterMode = cudaFilterModeLinear;
  for (int k = 0; k < 3; ++k) linear.addressMode[k] = cudaAddressModeClamp;
  cudaArray_t flat = array_of(t, 4, 4);
  plane<<<1, dim3(4, 4)>>>(texture_of(of(flat), linear), out);
  fetch_back(48);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) {
      int k = y * 4 + x, right = x < 3 ? x + 1 : 3, below = y < 3 ? y + 1 : 3;
      float across = 0.75f * x + 0.25f * right, down = 0.5f * y + 0.5f * below;
      expect(got[k] == 4 * down + across);
      float g[] = {t[below * 4 + x], t[below * 4 + right], t[y * 4 + right], t[k]};
      expect(got[16 + k] == g[0] + 10 * g[1] + 100 * g[2] + 1000 * g[3]);
      expect(got[32 + k] == t[k]);
    }
  cudaArray_t box, layers;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  expect(cudaMalloc3DArray(&box, &f, make_cudaExtent(4, 2, 2)) == cudaSuccess);
  expect(cudaMalloc3DArray(&layers, &f, make_cudaExtent(4, 2, 2), cudaArrayLayered) == 0);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(t, 16, 4, 2), p.dstArray = box;
  p.extent = make_cudaExtent(4, 2, 2), p.kind = cudaMemcpyHostToDevice;
  expect(cudaMemcpy3D(&p) == cudaSuccess);
  p.dstArray = layers;
  expect(cudaMemcpy3D(&p) == cudaSuccess);
  solid<<<1, dim3(4, 2, 2)>>>(texture_of(of(box), linear), texture_of(of(layers)), out);
  fetch_back(64);
  for (int k = 0; k < 16; ++k) {
    int x = k % 4, y = k / 4 % 2;
    expect(got[k] == t[k]);
    float across = x < 3 ? x + 0.5f : 3;
    expect(got[16 + k] == across + 2 + 4);
    expect(got[32 + k] == t[8 + y * 4 + x]);  // behind the last layer it is the last
    expect(got[48 + k] == t[y * 4 + x]);
  }
  cudaFreeArray(flat), cudaFreeArray(box), cudaFreeArray(layers), cudaFree(out);
  return 0;
}
""",
    "kinds of texels": """
__global__ void read(cudaTextureObject_t half, cudaTextureObject_t bytes, cudaTextureObject_t wide,
                     cudaTextureObject_t pitched, float* out) {
  int x = threadIdx.x;
  out[x] = tex2D<float>(half, x, 0);
  out[4 + x] = tex2D<signed char>(bytes, x, 0);
  short2 s = tex2D<short2>(wide, x, 0);
  out[8 + x] = s.x * 1000 + s.y;
  out[12 + x] = tex2D<float>(pitched, x + 0.5f, 1.5f);
}
int main() {
  unsigned short halves[4] = {0x3c00, 0xc200, 0x0001, 0x7bff};
  signed char bytes[4] = {-128, -1, 0, 127};
  short2 wide[4] = {{-3, 4}, {3, -4}, {0, 1}, {1, 0}};
  float rows[2][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}}, *memory;
  cudaMalloc(&out, 64);
  cudaArray_t a;
  cudaChannelFormatDesc f = cudaCreateChannelDescHalf();
  cudaMallocArray(&a, &f, 4, 1);
  expect(cudaMemcpyToArray(a, 0, 0, halves, 8, cudaMemcpyHostToDevice) == cudaSuccess);
  cudaArray_t b = array_of(bytes, 4, 1), c = array_of(wide, 4, 1);
  size_t pitch;
  cudaMallocPitch(&memory, &pitch, 16, 2);
  cudaMemcpy2D(memory, pitch, rows, 16, 16, 2, cudaMemcpyHostToDevice);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = memory;
  r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  r.res.pitch2D.width = 4, r.res.pitch2D.height = 2, r.res.pitch2D.pitchInBytes = pitch;
  read<<<1, 4>>>(texture_of(of(a)), texture_of(of(b)), texture_of(of(c)), texture_of(r), out);
  fetch_back(16);
  expect(got[0] == 1 && got[1] == -3 && got[2] == ldexpf(1, -24) && got[3] == 65504);
  expect(got[4] == -128 && got[5] == -1 && got[6] == 0 && got[7] == 127);
  expect(got[8] == -2996 && got[9] == 2996 && got[10] == 1 && got[11] == 1000);
  for (int x = 0; x < 4; ++x) expect(got[12 + x] == 10 + x);
  cudaTextureObject_t t;
  cudaTextureDesc d = {};
  d.filterMode = cudaFilterModeLinear;
  r = of(b);
  expect(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaErrorInvalidFilterSetting);
  d.readMode = cudaReadModeNormalizedFloat;
  expect(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaSuccess);
  cudaFreeArray(a), cudaFreeArray(b), cudaFreeArray(c), cudaFree(out), cudaFree(memory);
  return 0;
}
""",
    "surfaces": """
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  uchar4 texel;
  surf2Dread(&texel, from, x * 4, y);
  surf2Dwrite(texel, to, y * 4, n - 1 - x);
}
__global__ void edges(cudaSurfaceObject_t s, float* out) {
  int x = (int)threadIdx.x - 1;
  float a, b;
  surf1Dread(&a, s, x * 4, cudaBoundaryModeZero);
  surf1Dread(&b, s, x * 4, cudaBoundaryModeClamp);
  out[threadIdx.x] = a + 100 * b;
  surf1Dwrite(-1.f, s, 32 + x * 4, cudaBoundaryModeZero);
}
int main() {
  uchar4 t[16], back[16];
  float line[4] = {1, 2, 3, 4};
  for (int i = 0; i < 16; ++i) t[i] = make_uchar4(i, 2 * i, 3 * i, 4 * i);
  cudaMalloc(&out, 24);
  cudaArray_t a = array_of(t, 4, 4, cudaArraySurfaceLoadStore);
  cudaArray_t b = array_of((uchar4*)nullptr, 4, 4, cudaArraySurfaceLoadStore);
  cudaArray_t c = array_of(line, 4, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc ra = of(a), rb = of(b), rc = of(c);
  cudaSurfaceObject_t from, to, thin;
  expect(cudaCreateSurfaceObject(&from, &ra) == 0 && cudaCreateSurfaceObject(&to, &rb) == 0);
  expect(cudaCreateSurfaceObject(&thin, &rc) == 0);
  turn<<<1, dim3(4, 4)>>>(from, to, 4);
  expect(cudaMemcpy2DFromArray(back, 16, b, 0, 0, 16, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) expect(back[(3 - x) * 4 + y].w == t[y * 4 + x].w);
  edges<<<1, 6>>>(thin, out);
  fetch_back(6);
  float want[] = {100, 101, 202, 303, 404, 400};
  for (int k = 0; k < 6; ++k) expect(got[k] == want[k]);
  expect(cudaMemcpyFromArray(line, c, 0, 0, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
  expect(line[0] == 1 && line[3] == 4);
  expect(cudaDestroySurfaceObject(from) == cudaSuccess);
  cudaFreeArray(a), cudaFreeArray(b), cudaFreeArray(c), cudaFree(out);
  return 0;
}
""",
}

MISTAKES = """
__global__ void copy(cudaTextureObject_t t, float* out) {
  int x = threadIdx.x;
  out[x] = tex2D<float>(t, x, blockIdx.x);  // TEXTURE
}
__global__ void put(cudaSurfaceObject_t s, int by) {
  surf2Dwrite(1.f, s, threadIdx.x * by, 0);  // SURFACE
}
int main() {
  float t[8] = {};
  cudaMalloc(&out, 16);
  cudaArray_t a = array_of((float*)nullptr, 4, 2, cudaArraySurfaceLoadStore);
  cudaResourceDesc r = of(a);
  cudaTextureObject_t o = texture_of(r);
  cudaSurfaceObject_t s;
  cudaCreateSurfaceObject(&s, &r);
  BODY
  cudaFreeArray(a);
  cudaFree(out);
  return 0;
}
"""

FILL = "cudaMemcpy2DToArray(a, 0, 0, t, 16, 16, 2, cudaMemcpyHostToDevice);\n  "
FOUND: dict[str, tuple[str, str, str, str]] = {
    "half of it written": (
        "cudaMemcpyToArray(a, 0, 0, t, 16, cudaMemcpyHostToDevice);\n  copy<<<2, 4>>>(o, out);",
        "uninitialised", "TEXTURE", "read of a[4], which nothing wrote before",
    ),
    "a row too long": (
        FILL + "put<<<1, 5>>>(s, 4);",
        "out_of_bounds", "SURFACE", "write to byte 16 of row 0 of the surface a",
    ),
    "elements for bytes": (
        FILL + "put<<<1, 2>>>(s, 1);",
        "misaligned", "SURFACE", "misaligned write to 4 bytes at a[0]",
    ),
    "a destroyed object": (
        "cudaDestroyTextureObject(o);\n  copy<<<1, 4>>>(o, out);",
        "use_after_free", "TEXTURE", "texture object",
    ),
    "no array copied that large": (
        "cudaMemcpy2DToArray(a, 0, 0, t, 16, 16, 3, cudaMemcpyHostToDevice);  // COPY",
        "bad_copy", "COPY", "which has 32 bytes",
    ),
    "never freed": ("a = array_of(t, 4, 1);", "leak", "", ""),
}  # fmt: skip


def run(text: str) -> tuple[Outcome, list[str]]:
    """The outcome of a program, and its lines."""
    whole = CHECK + TOOLS + text
    return outcome(whole), whole.splitlines()


@pytest.mark.parametrize("name", _quick(PROGRAMS, "linear memory"))
def test_textures(name: str) -> None:
    ran, _ = run(PROGRAMS[name])
    said = [(f.kind, f.line, f.message) for f in ran.answer.faults]
    assert (ran.answer.code, ran.stdout, said) == (0, "", [])


@pytest.mark.parametrize("name", _quick(FOUND, "half of it written"))
def test_mistakes_with_textures(name: str) -> None:
    body, kind, mark, words = FOUND[name]
    ran, lines = run(MISTAKES.replace("BODY", body))
    found = [f for f in ran.answer.faults if f.severity == "error" or kind == "leak"]
    kinds = {f.kind for f in found}
    assert kind in kinds, [(f.kind, f.message) for f in found]
    fault = next(f for f in found if f.kind == kind)
    assert words in fault.message
    if mark:
        assert fault.line is not None
        assert f"// {mark}" in lines[fault.line - 1]
