"""Lines of Triton's PTX, and the variant whose masked-off lanes are really undefined."""

from __future__ import annotations

import re

from grader.languages import triton_ptx
from grader.languages.triton_source import lines_without_other


def line_of(ptx: str, instruction: str) -> list[int]:
    """Source lines of the instructions that match, as a consumer of `.loc` sees them."""
    line, found = 0, []
    for text in ptx.splitlines():
        if match := re.match(r"\s*\.loc\s+1\s+(\d+)", text):
            line = int(match[1])
        elif re.search(instruction, text):
            found.append(line)
    return found


def test_an_unmasked_load_is_on_its_own_line(compile_here, kernel):
    text = kernel.replace("tl.load(a_ptr + offs, mask=mask)", "tl.load(a_ptr + offs)")
    _, blobs = compile_here(text)
    raw = blobs[0]
    mended = triton_ptx.mend_lines(raw, "kernel.py")
    assert 9 not in line_of(raw, r"^\s*ld\.global")  # the bug this mends
    assert set(line_of(mended, r"^\s*ld\.global")) == {9}
    assert set(line_of(mended, r"@%p\d+ ld\.global")) == {10}
    assert set(line_of(mended, r"st\.global")) == {11}


def test_library_code_has_the_place_of_its_call(compile_here, kernel):
    _, blobs = compile_here(kernel.replace("a + b", "tl.sum(a, axis=0) + b"))
    mended = triton_ptx.mend_lines(blobs[0], "kernel.py")
    assert set(line_of(mended, r"shfl\.sync")) == {11}
    assert "inlined_at" not in mended
    assert '.file\t1 "kernel.py"' in mended
    assert ".section" not in mended


def test_helpers_of_the_student_keep_their_own_lines(compile_here, kernel):
    text = kernel.replace("a + b", "total(a) + b")
    text += "\n\n@triton.jit\ndef total(x):\n    return tl.sum(x, axis=0)\n"
    _, blobs = compile_here(text)
    assert set(line_of(triton_ptx.mend_lines(blobs[0], "kernel.py"), r"shfl\.sync")) == {16}


def test_facts_of_the_launch(compile_here, kernel):
    _, blobs = compile_here(kernel)
    assert triton_ptx.entry(blobs[0]) == ("vec_add", 6)
    assert triton_ptx.threads(blobs[0]) == (128, 1, 1)
    assert triton_ptx.reads_program_id(blobs[0])
    _, blobs = compile_here(kernel.replace("tl.program_id(0) * BLOCK + ", ""))
    assert not triton_ptx.reads_program_id(blobs[0])


def test_lanes_beyond_a_mask_become_undefined(compile_here, kernel):
    _, blobs = compile_here(kernel)
    mended = triton_ptx.mend_lines(blobs[0], "kernel.py")
    undefined = triton_ptx.undefined_lanes(mended, lines_without_other(kernel))
    assert undefined is not None
    assert undefined.count(f"[{triton_ptx.UNDEFINED}]") == mended.count(", 0x0;")
    assert f".local .align 8 .b8 {triton_ptx.UNDEFINED}[8];" in undefined


def test_a_stated_other_is_left_alone(compile_here, kernel):
    text = kernel.replace("mask=mask)\n    b", "mask=mask, other=0.0)\n    b").replace(
        "tl.load(b_ptr + offs, mask=mask)", "tl.load(b_ptr + offs, mask, 0.0)"
    )
    assert text.count("other") + text.count(", 0.0") >= 2
    _, blobs = compile_here(text)
    mended = triton_ptx.mend_lines(blobs[0], "kernel.py")
    assert triton_ptx.undefined_lanes(mended, lines_without_other(text)) is None
