"""What one block leaves behind is nothing that another can use, and constant memory stays as it is.

Attack: in the large case, where only bounds are checked, take from shared or local memory what an
earlier block loaded there, and save the loads that points are given for.
"""

from __future__ import annotations

import numpy as np
import pytest

from grader import vgpu

LEAVES = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry leaves(.param .u64 out)
{
    .reg .u64 %rd<5>;
    .reg .u32 %r<8>;
    .reg .pred %p<2>;
    .shared .align 4 .b32 seen;
    .local .align 4 .b32 mine;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    ld.shared.u32 %r2, [seen];
    ld.local.u32 %r3, [mine];
    bar.sync 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mov.u32 %r4, 7;
    st.shared.u32 [seen], 1000;
    st.local.u32 [mine], 2000;
    add.u32 %r5, %r2, %r3;
    add.u32 %r5, %r5, %r4;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
}
"""

CONSTANT = """
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 kept = 5;
.visible .entry writes(.param .u64 out)
{
    .reg .u64 %rd<5>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, kept;
    cvta.const.u64 %rd3, %rd2;
    st.u32 [%rd3], 9;
    ld.const.u32 %r1, [kept];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


@pytest.mark.parametrize("checks", ["all", "bounds"])
def test_every_block_starts_with_the_same(checks: str) -> None:
    kernel = vgpu.Module.from_ptx(LEAVES).kernel("leaves")
    out = np.zeros(5, np.uint32)
    launch = vgpu.launch(kernel, 5, 1, [out], checks=checks)
    assert launch.ended == "finished"
    assert out.tolist() == [7, 0, 0, 0, 0]
    kinds = {fault.kind for fault in launch.faults}
    assert kinds == ({"uninitialised"} if checks == "all" else set())


@pytest.mark.parametrize("checks", ["all", "bounds"])
def test_a_kernel_does_not_write_constant_memory(checks: str) -> None:
    kernel = vgpu.Module.from_ptx(CONSTANT).kernel("writes")
    out = np.zeros(1, np.uint32)
    (fault,) = vgpu.launch(kernel, 1, 1, [out], checks=checks).faults
    assert (fault.kind, fault.severity) == ("input_modified", "error")
    assert "kept is constant memory, which only the host writes" in fault.message
    assert out.tolist() == [5]
