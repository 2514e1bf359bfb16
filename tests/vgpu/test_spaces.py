"""An access does the work of the memory it reaches; an instruction reaches no memory but its own.

Attack: read global memory where no sector of it is counted, by an instruction for shared or local
memory whose address is made to lead there, or by a generic one that goes to shared memory too.
"""

from __future__ import annotations

import numpy as np
import pytest

from grader import vgpu

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry reads(.param .u64 a, .param .u64 c)
{{
    .reg .u64 %rd<9>;
    .reg .u32 %r<9>;
    .reg .f32 %f<4>;
    .reg .pred %p<3>;
    .shared .align 16 .b8 own[512];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [c];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    mov.u64 %rd5, own;
    cvta.shared.u64 %rd5, %rd5;
    add.u64 %rd5, %rd5, %rd3;
    st.f32 [%rd5], 0f00000000;
    setp.eq.u32 %p1, %r1, 31;
    {how}
    add.u64 %rd6, %rd2, %rd3;
    st.global.f32 [%rd6], %f1;
    ret;
}}
"""

LINE = "ld.global.f32 %f1, [%rd4];"
MIXED = {
    "one lane elsewhere": "selp.b64 %rd7, %rd5, %rd4, %p1; ld.f32 %f1, [%rd7];",
    "one time elsewhere": """mov.u32 %r2, 0; mov.u64 %rd7, %rd5;
again: ld.f32 %f1, [%rd7]; mov.u64 %rd7, %rd4; add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 2; @%p2 bra again;""",
}
FOREIGN = {
    "shared": "cvta.to.shared.u64 %rd7, %rd4; ld.shared.f32 %f1, [%rd7];",
    "local": "cvta.to.local.u64 %rd7, %rd4; ld.local.f32 %f1, [%rd7];",
    "matrix": "shl.b64 %rd7, %rd3, 2; add.u64 %rd7, %rd1, %rd7; cvta.to.shared.u64 %rd7, %rd7; "
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%rd7]; mov.b32 %f1, %r3;",
    "copy": "cvta.to.shared.u64 %rd7, %rd2; cp.async.ca.shared.global [%rd7], [%rd4], 4; "
    "cp.async.wait_all; mov.f32 %f1, 0f00000000;",
    "atomic": "cvta.to.shared.u64 %rd7, %rd4; atom.shared.add.f32 %f1, [%rd7], 0f00000000;",
}


def launch(how: str, checks: str) -> vgpu.Launch:
    kernel = vgpu.Module.from_ptx(KERNEL.format(how=how)).kernel("reads")
    arrays = [np.zeros(128, np.float32), np.zeros(128, np.float32)]
    return vgpu.launch(kernel, 1, 32, arrays, checks=checks)


def sectors(found: vgpu.Launch) -> float:
    return found.metrics.counts["global_sectors"]


@pytest.mark.parametrize("checks", ["all", "bounds"])
@pytest.mark.parametrize("how", MIXED.values(), ids=MIXED)
def test_generic_loads_count_in_each_memory(how: str, checks: str) -> None:
    found = launch(how, checks)
    assert found.ended == "finished"
    assert found.faults == ()
    assert sectors(found) == sectors(launch(LINE, checks))
    assert found.metrics.counts["global_load_requests"] == 1
    assert found.metrics.counts["shared_requests"] == 2
    assert found.metrics.counts["shared_wavefronts"] == 2


@pytest.mark.parametrize("checks", ["all", "bounds"])
@pytest.mark.parametrize("how", FOREIGN.values(), ids=FOREIGN)
def test_no_instruction_reaches_another_memory(how: str, checks: str) -> None:
    faults = [f for f in launch(how, checks).faults if f.severity == "error"]
    assert faults[0].kind == "out_of_bounds"
    assert "which is none of" in faults[0].message
