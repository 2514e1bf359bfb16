"""Linking of PTX modules: which symbol is which."""

from __future__ import annotations

import numpy as np
import pytest

from grader.vgpu import Memory, Module, PtxError, launch, native
from grader.vgpu.link import link

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
USER = f"""{HEAD}
.extern .func (.param .b32 r) add(.param .b32 a);
.extern .global .align 4 .u32 n;
.global .align 4 .u32 own = 5;
.weak .func (.param .b32 r) same(.param .b32 a)
{{ .reg .b32 %r<2>; ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret; }}
.visible .entry k(.param .u64 out)
{{
  .reg .b32 %r<6>; .reg .b64 %rd<2>;
  .loc 1 7 3
  ld.global.u32 %r1, [n];
  {{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 p1;
     call.uni (p1), add, (p0); ld.param.b32 %r2, [p1]; }}
  ld.global.u32 %r3, [own];
  add.u32 %r4, %r2, %r3;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r4;
  ret;
}}
.file 1 "user.cu"
"""
OWNER = f"""{HEAD}
.global .align 4 .u32 own = 100;
.visible .global .align 4 .u32 n = 7;
.weak .func (.param .b32 r) same(.param .b32 a)
{{ .reg .b32 %r<2>; mov.u32 %r1, 1; st.param.b32 [r], %r1; ret; }}
.visible .func (.param .b32 r) add(.param .b32 a)
{{ .reg .b32 %r<4>;
  .loc 1 3 1
  ld.param.u32 %r1, [a]; ld.global.u32 %r2, [own]; add.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3; ret; }}
.file 1 "owner.cu"
"""


@pytest.mark.parametrize("texts", [(USER, OWNER), (OWNER, USER)])
def test_a_module_s_own_symbols_stay_its_own(texts: tuple[str, str]) -> None:
    module, names = Module.linked(texts)
    assert [dict(n) for n in names] == [{}, {"own": "own@1"}]
    assert module.kernels == ("k",)
    memory = Memory()
    out = memory.allocate(np.zeros(1, np.int32), name="out", access="out")
    done = launch(module.kernel("k"), 1, 1, [out], memory=memory)
    assert (done.ended, memory.read(out)[0]) == ("finished", 7 + 100 + 5)


def test_what_is_used_of_another_module_is_said_with_its_place() -> None:
    found = link([USER, OWNER]).references
    assert [(r.kind, r.symbol, r.function, r.modules, r.places[-1]) for r in found] == [
        ("found", "n", False, (1, 0), ("user.cu", 7)),
        ("found", "add", True, (1, 0), ("user.cu", 7)),
    ]
    assert link([OWNER, OWNER.replace(".visible", ".weak")]).references == ()


def test_mistakes_between_modules() -> None:
    alone = link([USER]).references
    assert [(r.kind, r.symbol) for r in alone] == [("missing", "n"), ("missing", "add")]
    twice = link([OWNER, OWNER]).references
    assert {(r.kind, r.symbol, r.places[0]) for r in twice} == {
        ("twice", "add", ("owner.cu", 3)),
        ("twice", "n", None),
    }
    wider = link([USER, OWNER.replace(".u32 n = 7", ".u64 n = 7")]).references
    assert [(r.kind, r.symbol) for r in wider] == [("unlike", "n"), ("found", "add")]
    constant = link([USER, OWNER.replace(".visible .global", ".visible .const")]).references
    assert ("unlike", "n") in {(r.kind, r.symbol) for r in constant}


def test_a_definition_is_taken_rather_than_a_weak_one() -> None:
    strong = OWNER.replace(
        ".weak .func (.param .b32 r) same", ".visible .func (.param .b32 r) same"
    )
    whole = link([USER, strong]).ptx
    assert whole.functions["same"].linkage == "visible"


def test_the_key_of_linked_code_changes_with_texts_and_order() -> None:
    digests = {
        native.digest_of_linked(texts)
        for texts in ([USER, OWNER], [OWNER, USER], [USER], [USER, OWNER.replace("7", "8")])
    }
    assert len(digests | {native.digest(USER)}) == 5
    module, _ = Module.linked([USER, OWNER])
    assert module.digest == native.digest_of_linked([USER, OWNER])


def test_a_text_that_is_malformed_is_an_error_of_its_line() -> None:
    with pytest.raises(PtxError) as error:
        link([USER, HEAD + ".oops;\n"])
    assert error.value.line == 4
