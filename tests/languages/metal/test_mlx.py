"""MLX's own kernels, from the headers of the installed wheel: nobody here wrote them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from grader import vgpu
from grader.languages import Variant
from tests.languages.metal.sources import compiled

KERNELS = "mlx/backend/metal/kernels"


def include_folder() -> Path:
    """The wheel's headers; the test is skipped where they are not installed."""
    found = importlib.util.find_spec("mlx")
    for place in (found.submodule_search_locations or ()) if found else ():
        if (Path(place) / "include" / KERNELS).is_dir():
            return Path(place) / "include"
    pytest.skip("the mlx wheel is not installed here: its kernels are its include files")


def variants(names: list[str], text: str) -> tuple[Variant, ...]:
    """What `text` compiles to behind MLX's headers `names` and those that they include."""
    root = include_folder()
    headers: dict[str, str] = {}
    left = [f"{KERNELS}/{name}" for name in names]
    while left:
        name = left.pop()
        if name not in headers and (root / name).is_file():
            headers[name] = (root / name).read_text()
            left += re.findall(r'#include "(mlx/[^"]+)"', headers[name])
    included = "".join(f'#include "{KERNELS}/{name}"\n' for name in names)
    builds, artefact = compiled(f"#include <metal_stdlib>\n{included}{text}", headers=headers)
    assert artefact is not None, [d for build in builds for d in build.diagnostics]
    return artefact.variants


def test_the_element_wise_add_gives_numpy_s_answer() -> None:
    made = variants(
        ["utils.h", "binary_ops.h", "binary.h"],
        'instantiate_kernel("vv_Addfloat32", binary_vv, float, float, Add)\n',
    )
    x, y = np.random.default_rng(5).normal(size=(2, 1003)).astype(np.float32)
    for variant in made:
        z = np.zeros_like(x)
        kernel = vgpu.Module.from_ptx(variant.ptx).kernel(variant.entries["vv_Addfloat32"])
        run = vgpu.launch(kernel, 2, 256, [x, y, z, np.uint32(len(x))])
        assert (run.ended, run.faults) == ("finished", ())
        np.testing.assert_array_equal(z, x + y)


def test_a_softmax_given_too_few_threads_is_reported_at_its_own_line() -> None:
    """Each of 32 threads reads a SIMD-group's result; two SIMD-groups write only two of them."""
    name = f"{KERNELS}/softmax.h"
    made = variants(["utils.h", "softmax.h"], 'instantiate_kernel("sm", softmax_looped, float)\n')
    lines = (include_folder() / name).read_text().splitlines()
    x = np.random.default_rng(6).normal(size=(2, 1003)).astype(np.float32)
    expected = np.exp(x.astype(np.float64))
    expected /= expected.sum(1, keepdims=True)
    for variant in made:
        out = np.zeros_like(x)
        kernel = vgpu.Module.from_ptx(variant.ptx).kernel("sm")
        assert vgpu.launch(kernel, 2, 1024, [x, out, np.int32(1003)]).faults == ()
        np.testing.assert_allclose(out, expected, rtol=2e-5)
        faults = vgpu.launch(kernel, 2, 64, [x, out, np.int32(1003)]).faults
        (fault,) = [fault for fault in faults if fault.severity == "error"]
        assert (fault.kind, fault.buffer) == ("uninitialised", "local_normalizer")
        assert fault.file == name
        assert "local_normalizer[simd_lane_id]" in lines[(fault.line or 0) - 1]
