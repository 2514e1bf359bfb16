"""Under which key native code is kept: what changes it changes the key, and nothing else does."""

from __future__ import annotations

import re

import pytest

from grader.languages import cuda_c
from grader.vgpu import Module
from grader.vgpu.lower_blocks import lower
from grader.vgpu.native import code_only, digest
from tests.conftest import ROOT

KNOWN = ROOT / "assignments"
FILES = [
    KNOWN / "assignment3/submissions/accepted/float4_with_tail.cu",
    KNOWN / "assignment3/submissions/accepted/block_constant.cu",
    KNOWN / "assignment3/submissions/wrong_answer",
    KNOWN / "assignment7/submissions/race",
]
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"


def variants(text: str) -> dict[str, str]:
    _, artefact = cuda_c.build(text, "kernel.cu", ())
    assert artefact is not None
    return {variant.name: variant.ptx for variant in artefact.variants}


def lowered(ptx: str) -> list[str]:
    module = Module.from_ptx(ptx)
    return [
        lower(module.ptx, module.kernel(name).program, shadow).ir
        for name in module.kernels
        for shadow in (True, False)
    ]


@pytest.mark.skipif(cuda_c.missing() is not None, reason="NVRTC makes the PTX")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_left_out_of_the_key_decides_nothing(path):
    file = path if path.is_file() else sorted(path.glob("*.cu"))[0]
    for ptx in variants(file.read_text()).values():
        left = code_only(ptx)
        assert not re.search(r"\.loc\s", left)
        assert (".debug_" in left) == (".debug_" in ptx and "__local_depot" in ptx)
        assert lowered(code_only(ptx)) == lowered(ptx)


@pytest.mark.skipif(cuda_c.missing() is not None, reason="NVRTC makes the PTX")
def test_names_and_comments_share_a_key_and_code_does_not():
    text = "__global__ void k(int* a) {\n  int x = a[1] + 2;\n  if (x > 5) a[0] = x;\n}\n"
    plain = variants(text)
    renamed = variants("// a comment\n\n" + re.sub(r"\bx\b", "other", text))
    other = variants(text.replace("+ 2", "+ 3"))
    for name, ptx in plain.items():
        assert ptx != renamed[name] or name == "optimised"
        assert digest(ptx) == digest(renamed[name])
        assert digest(ptx) != digest(other[name])


@pytest.mark.parametrize(
    "odd",
    [
        ".loc 1 2 3; add.s32 %r1, %r1, 1;",  # an instruction behind it
        ".loc 1 2 3 add.s32 %r1, %r1, 1;",
        ".section .debug_str\n{\n.b8 1 }\n st.global.u32 [%rd1], %r1;\n{\n}",
        ".section .debug_str\n{\n/*\n}\n*/ st.global.u32 [%rd1], %r1;\n}",
        '.file 1 "a" add.s32 %r1, %r1, 1;',
        ".section .mine\n{\n.b8 1\n}",
    ],
)
def test_an_instruction_never_hides_in_what_is_left_out(odd):
    text = f"{HEAD}.visible .entry k()\n{{\n{odd}\nret;\n}}\n"
    kept = code_only(text)
    for word in ("add.s32", "st.global", ".mine"):
        assert (word in kept) == (word in odd)
