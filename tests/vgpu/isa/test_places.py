"""Which source line a finding names, where code of several files ends up in one kernel."""

from __future__ import annotations

import numpy as np
import pytest

from grader.vgpu import Memory, Module, launch

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 q)
{{ .reg .b64 %p; .reg .b32 %v;
.loc 1 3 1
ld.param.u64 %p, [q];
.loc 2 19 16
ld.global.b32 %v, [%p+4096];
.loc 1 4 1
ret; }}
.file 1 "{first}"
.file 2 "{second}"
"""


@pytest.mark.parametrize(
    ("first", "second", "file", "line"),
    [
        ("kernel.cu", "cooperative_groups.h", "kernel.cu", 3),
        ("<entry>", "kernel.metal", "kernel.metal", 19),
    ],
)
def test_the_line_is_in_the_kernels_own_file(first: str, second: str, file: str, line: int) -> None:
    memory = Memory()
    a = memory.allocate(np.zeros(4, np.float32), name="a", access="in")
    kernel = Module.from_ptx(PTX.format(first=first, second=second)).kernel("k")
    [fault] = launch(kernel, 1, 1, [a], memory=memory).faults
    assert (fault.kind, fault.file, fault.line) == ("out_of_bounds", file, line)
