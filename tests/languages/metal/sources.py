"""Sources and shortcuts that the Metal tests share."""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.languages import Artefact, Contract, Parameter, metal_clang
from grader.languages.metal_compile import compile_submission
from grader.result import Build, Diagnostic

KERNEL = """#include <metal_stdlib>
using namespace metal;

kernel void vec_add(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
  if (i < N) C[i] = A[i] + B[i];
}
"""


def contract(kernel: str, *parameters: str, **constants: int) -> Contract:
    """A contract; each parameter is `name: type with attributes`."""
    pairs = [text.split(":", 1) for text in parameters]
    return Contract(
        kernel=kernel,
        parameters=tuple(Parameter(name=n.strip(), type=t.strip()) for n, t in pairs),
        constants=constants,
    )


VEC_ADD = contract(
    "vec_add",
    "A: device const float* [[buffer(0)]]",
    "B: device const float* [[buffer(1)]]",
    "C: device float* [[buffer(2)]]",
    "N: constant uint& [[buffer(3)]]",
    "i: uint [[thread_position_in_grid]]",
    BLOCK=256,
)


@functools.cache
def _library() -> str:
    """The library, parsed once for all tests of a process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    assert metal_clang.precompile(Path(folder))
    return folder


def compiled(
    text: str, *contracts: Contract, headers: dict[str, str] | None = None
) -> tuple[tuple[Build, ...], Artefact | None]:
    """Compile in this process, in a folder of its own; without contracts every kernel."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return compile_submission(
            text, "kernel.metal", contracts, headers=headers or {}, precompiled=_library()
        )


def accepted(text: str, *contracts: Contract) -> Artefact:
    """The artefact of a text that must compile."""
    builds, artefact = compiled(text, *contracts)
    assert artefact is not None, [d.message for b in builds for d in b.diagnostics]
    return artefact


def errors(text: str, *contracts: Contract) -> Sequence[Diagnostic]:
    """The errors of a text that must not compile."""
    builds, artefact = compiled(text, *contracts)
    assert artefact is None
    return [d for b in builds for d in b.diagnostics if d.severity == "error"]


def body(statements: str) -> str:
    """A kernel around `statements`, which start at line 4."""
    return (
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void k(device float* a, device const float* b, uint i "
        f"[[thread_position_in_grid]]) {{\n{statements}\n}}\n"
    )
