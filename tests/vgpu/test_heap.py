"""What a kernel takes from the heap: how it is named, in its own launch and in later ones."""

from __future__ import annotations

import numpy as np

from grader.vgpu import Memory, Module, launch

PTX = """
.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b64 out) malloc(.param .b64 size);
.global .u64 kept;
.file 1 "kept.cu"
.visible .entry take()
{
  .reg .b64 %rd<4>;
  .loc 1 2 1
  {
    .param .b64 size;
    st.param.b64 [size], 16;
    .param .b64 out;
    call.uni (out), malloc, (size);
    ld.param.b64 %rd1, [out];
  }
  st.global.u64 [kept], %rd1;
  ret;
}
.visible .entry use(.param .u64 a)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .loc 1 3 1
  ld.param.u64 %rd1, [a];
  ld.global.u64 %rd2, [kept];
  ld.u32 %r1, [%rd2+16];
  st.global.u32 [%rd1], %r1;
  .loc 1 4 1
  ld.u32 %r2, [%rd2+4];
  st.global.u32 [%rd1], %r2;
  ret;
}
"""


def test_what_was_never_written_is_known_after_a_launch_without_that_check() -> None:
    module, memory = Module.from_ptx(PTX), Memory()
    a = memory.allocate(np.zeros(1, np.int32), name="a", access="out")
    launch(module.kernel("take"), 1, 1, [], memory=memory, checks="bounds")
    done = launch(module.kernel("use"), 1, 1, [a], memory=memory)
    assert [(f.kind, f.line) for f in done.faults] == [("out_of_bounds", 3), ("uninitialised", 4)]


def test_the_heap_is_named_by_the_line_that_took_it_in_later_launches_too() -> None:
    module, memory = Module.from_ptx(PTX), Memory()
    a = memory.allocate(np.zeros(1, np.int32), name="a", access="out")
    assert launch(module.kernel("take"), 1, 1, [], memory=memory).faults == ()
    done = launch(module.kernel("use"), 1, 1, [a], memory=memory)
    found = [(f.kind, f.line, f.buffer, f.index, f.extent) for f in done.faults]
    name = "memory allocated at line 2"
    assert found == [("out_of_bounds", 3, name, 4, 4), ("uninitialised", 4, name, 1, 4)]
    assert done.faults[0].message.startswith(f"read of element 4 of {name}, but {name} has 4")
