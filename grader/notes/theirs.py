"""The frameworks' own add kernels, compiled to PTX where their source can be had here.

    mlx, metal          binary_vv with Add, from the headers in the installed mlx package
    pytorch, mps        binary_dense from c10/metal/indexing.h of the installed torch package
                        (2.8 and later), with an add functor of ours: theirs is not shipped
    pytorch, compile    what Inductor writes for torch.add, from the installed torch and triton
    cupy, cuda          the element-wise template around CUPY_FOR, with carray.cuh of the
                        installed cupy package; the lines between are those CuPy generates

Everything is compiled in a sandboxed child as a student's kernel would be, and kept by content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from grader.errors import GradeError
from grader.notes import sources


@dataclass(frozen=True)
class Theirs:
    """A kernel of a framework as PTX: `name` says which, for a report."""

    name: str
    ptx: str
    entry: str


class NotHere(GradeError):
    """The source of a framework's kernel cannot be had or compiled on this machine."""


_METAL_INCLUDE = re.compile(r'#include [<"]((?:c10|mlx)/[^>"]+)[>"]')
_CUDA_INCLUDE = re.compile(r'#\s*include [<"]([^>"]+)[>"]')

MLX = "mlx/backend/metal/kernels/"
MLX_ADD = f"""#include "{MLX}utils.h"
#include "{MLX}binary_ops.h"
#include "{MLX}binary.h"
template [[host_name("vv_Addfloat32")]] [[kernel]]
decltype(binary_vv<float, float, Add, 1>) binary_vv<float, float, Add, 1>;
template [[host_name("vvn_Addfloat32")]] [[kernel]]
decltype(binary_vv<float, float, Add>) binary_vv<float, float, Add>;
"""

MPS_ADD = """#include "c10/metal/indexing.h"
struct add_functor {
  template <typename T>
  inline T operator()(const T a, const T b) {
    return static_cast<T>(a + b);
  }
};
using c10::metal::binary_dense;
template [[host_name("add_dense_float_float")]] kernel void
::c10::metal::binary_dense<float, add_functor>(
    device float*, constant float*, constant float*, uint);
"""

CUPY_INCLUDE = "cupy/_core/include/"
CUPY_ADD = """#include <cupy/carray.cuh>
typedef float in0_type;
typedef float in1_type;
typedef float out0_type;
extern "C" __global__ void cupy_add__float32_float32_float32(
    const CArray<float, 1, 1, 1> _raw_in0, const CArray<float, 1, 1, 1> _raw_in1,
    CArray<float, 1, 1, 1> _raw_out0, CIndexer<1, 1> _ind) {
  #pragma unroll 1
  CUPY_FOR(i, _ind.size()) {
    _ind.set(i);
    const in0_type in0(_raw_in0[_ind.get()]);
    const in1_type in1(_raw_in1[_ind.get()]);
    out0_type &out0 = _raw_out0[_ind.get()];
    out0 = in0 + in1;
  }
}
"""


def kernels(framework: str, backend: str | None) -> tuple[Theirs, ...]:
    """The add kernels of a backend, compiled. Raises NotHere with the reason."""
    made = _MAKERS.get((framework, backend or ""))
    if made is None:
        raise NotHere("the source of this kernel is in no package: nothing to compile here")
    try:
        return made()
    except NotHere:
        raise
    except GradeError as error:
        raise NotHere(f"{framework}'s kernel was not compiled: {error.message}") from error


def _mlx() -> tuple[Theirs, ...]:
    version = _installed("mlx")
    headers: dict[str, str] = {}
    for name in ("utils.h", "binary_ops.h", "binary.h"):
        _gather("mlx", MLX + name, headers)
    ptx, entries = _metal(MLX_ADD, "mlx_add.metal", headers)
    shown = {"vv_Addfloat32": "below 65,536 elements", "vvn_Addfloat32": "from 65,536 elements on"}
    return tuple(
        Theirs(f"MLX {version} binary_vv, {shown[entry]}", ptx, entry)
        for entry in shown
        if entry in entries
    )


def _mps() -> tuple[Theirs, ...]:
    version = _installed("pytorch")
    headers: dict[str, str] = {}
    _gather("pytorch", "c10/metal/indexing.h", headers)
    if "kernel void binary_dense(" not in headers["c10/metal/indexing.h"]:
        raise NotHere(f"torch {version} has no binary_dense: its add is closed, inside MPSGraph")
    ptx, entries = _metal(MPS_ADD, "mps_add.metal", headers)
    return tuple(Theirs(f"PyTorch {version} binary_dense", ptx, entry) for entry in entries)


def _metal(text: str, name: str, headers: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    from grader.languages import metal

    builds, artefact = metal.build(text, name, (), headers=headers)
    if artefact is None:
        said = next((d for build in builds for d in build.diagnostics), None)
        reason = f"{said.file}:{said.line}: {said.message}" if said else "no reason given"
        raise NotHere(f"clang does not compile the header: {reason}")
    variant = next(one for one in artefact.variants if one.optimised)
    return variant.ptx, tuple(variant.entries.values())


def _inductor() -> tuple[Theirs, ...]:
    from grader.languages import inductor

    found = []
    for size in (1_000_003, 1 << 20):
        made = inductor.generate("add", size)
        name = f"torch.compile {made.torch_version}, N = {size:,}"
        found.append(Theirs(name, made.ptx, made.entry))
    return tuple(found)


def _cupy() -> tuple[Theirs, ...]:
    from grader.languages import cuda_c

    version = _installed("cupy")
    headers: dict[str, str] = {}
    _gather_cuda(f"{CUPY_INCLUDE}cupy/carray.cuh", headers)
    builds, artefact = cuda_c.build(CUPY_ADD, "cupy_add.cu", (), headers=headers)
    if artefact is None:
        said = next((d.message for build in builds for d in build.diagnostics), "no reason given")
        raise NotHere(f"NVRTC does not compile the header: {said}")
    variant = next(one for one in artefact.variants if one.optimised)
    (entry,) = variant.entries.values()
    return (Theirs(f"CuPy {version} cupy_add", variant.ptx, entry),)


def _installed(framework: str) -> str:
    version = sources.installed_version(framework)
    if version is None:
        package = sources.PACKAGES[framework][0]
        raise NotHere(f"{package} is not installed here, so its kernel cannot be compiled")
    return version


def _gather(framework: str, name: str, headers: dict[str, str]) -> None:
    """A Metal header and those of its package that it includes, by the names they go by."""
    if name in headers:
        return
    found = sources.in_package(framework, name)
    if found is None or found.text is None:
        raise NotHere(f"the installed package has no {name}")
    headers[name] = _METAL_INCLUDE.sub(r'#include "\1"', found.text)
    for inner in _METAL_INCLUDE.findall(found.text):
        _gather(framework, inner, headers)


def _gather_cuda(name: str, headers: dict[str, str]) -> None:
    """A header of CuPy and those beside it that it includes; the toolkit has the others."""
    short = name.removeprefix(CUPY_INCLUDE)
    found = sources.in_package("cupy", name)
    if short in headers or found is None or found.text is None:
        return
    headers[short] = found.text
    for inner in _CUDA_INCLUDE.findall(found.text):
        _gather_cuda(CUPY_INCLUDE + inner, headers)


_MAKERS: dict[tuple[str, str], Callable[[], tuple[Theirs, ...]]] = {
    ("mlx", "metal"): _mlx,
    ("pytorch", "mps"): _mps,
    ("pytorch", "compile-triton"): _inductor,
    ("cupy", "cuda"): _cupy,
}
