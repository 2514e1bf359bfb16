"""NVRTC through its binding."""

from __future__ import annotations

import pytest

from grader.languages import cuda_c, nvrtc

MISSING = cuda_c.missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"CUDA C: {MISSING}")


def test_an_empty_log_is_written_into_no_shared_object() -> None:
    """Python keeps one object for each `bytes` of length one, and the empty log has that length."""
    compilation = nvrtc.compile_source("__device__ int f() { return 1; }", "k.cu", [])
    assert (compilation.ok, compilation.log) == (True, "")
    everything = bytes(range(256))
    assert [everything[i : i + 1][0] for i in range(256)] == list(range(256))
