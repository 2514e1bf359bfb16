"""What torch.compile writes for an operation: its kernel, its mask, and that it compiles."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.languages import inductor, inductor_run, triton_ptx

MASKED = """\
@triton.jit
def triton_poi_fused_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1000
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (xindex), xmask)
    tl.store(out_ptr0 + (xindex), tmp0, xmask)
"""


def test_the_mask_is_marked_or_its_absence_explained():
    said, lines = inductor._mask(MASKED, 1000)
    assert lines == [5, 6, 7]
    assert said == "bounds are masked: lines 5, 6, 7"
    whole = MASKED.replace("xindex < xnumel", "tl.full([XBLOCK], True, tl.int1)[:]")
    said, lines = inductor._mask(whole.replace(", xmask)", ", None)"), 1 << 20)
    assert lines == []
    assert "1048576 is a multiple of the largest block" in said


def test_an_unknown_operation_names_the_known_ones():
    with pytest.raises(UsageError, match="frobnicate") as refused:
        inductor.generate("frobnicate", 10)
    assert "softmax" in refused.value.hint


@pytest.mark.slow
@pytest.mark.skipif(inductor.missing() is not None, reason=f"{inductor.missing()}")
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_the_generated_add(tmp_path, monkeypatch, size):
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    found = inductor.generate("add", size)
    assert found.source.startswith("@triton.jit")
    assert bool(found.mask_lines) == (size == 1000)
    assert found.parameters == ("*fp32", "*fp32", "*fp32", "i32", "*i8", "*i8")
    assert found.grid * found.configuration["XBLOCK"] >= size
    assert triton_ptx.entry(found.ptx) == (found.entry, 6)
    assert triton_ptx.threads(found.ptx) == found.block
    load = next(i for i, line in enumerate(found.source.splitlines()) if "tl.load" in line)
    assert f".loc\t1 {found.first_line + load} " in found.ptx
    monkeypatch.setattr("grader.sandbox.call", None)
    assert inductor.generate("add", size) == found


@pytest.mark.slow
@pytest.mark.skipif(inductor.missing() is not None, reason=f"{inductor.missing()}")
@pytest.mark.parametrize("operation", ["add", "where", "softmax"])
def test_a_generated_kernel_runs_right_and_clean(operation):
    found = inductor_run.measure(inductor.generate(operation, 1000))
    assert found.right
    assert found.faults == ()
    assert found.metrics.counts["warp_instructions"] > 0
    assert (found.reference is not None) == (operation == "add")
