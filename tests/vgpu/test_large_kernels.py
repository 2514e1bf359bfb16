"""Kernels with very many instructions: refused before translation, or translated in linear time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from grader.vgpu import Module, launch, module, program


def chain(count: int, *, wrong: str = "") -> str:
    """PTX of a kernel that adds its parameter up `count` times, each addition a new register."""
    body = "\n".join(f"add.u32 %r{k + 2}, %r{k + 1}, %r1;" for k in range(count))
    return (
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u32 step) {\n"
        f".reg .b32 %r<{count + 2}>;\n.reg .b64 %rd<2>;\n"
        f"ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [step];\n{body}\n{wrong}\n"
        f"st.global.u32 [%rd1], %r{count + 1};\nret;\n}}\n"
    )


def test_too_many_instructions_are_refused_before_translation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was translated")

    monkeypatch.setattr(module, "lower", never)
    kernel = Module.from_ptx(chain(program.MOST_INSTRUCTIONS)).kernel("k")
    done = launch(kernel, 1, 1, [np.zeros(1, np.uint32), np.uint32(2)])
    assert done.ended == "unsupported"
    assert done.reason == (
        "a kernel of 40,004 PTX instructions, those of its functions included; the virtual GPU "
        "translates 40,000"
    )


def test_a_chain_is_translated_in_time_and_is_right() -> None:
    # Analyses that look at every instruction for every instruction took 30 s for these.
    started = time.process_time()
    kernel = Module.from_ptx(chain(8000)).kernel("k")
    out = np.zeros(1, np.uint32)
    done = launch(kernel, 1, 1, [out, np.uint32(3)], checks="bounds")
    assert (done.ended, out[0]) == ("finished", 8001 * 3)
    assert time.process_time() - started < 15


def test_what_an_unsupported_instruction_half_did_is_taken_back() -> None:
    # The first register is set before the second turns out not to be declared; no lane gets there.
    wrong = ".reg .pred %p1;\nsetp.ne.u32 %p1, %r1, %r1;\n@%p1 ld.global.v2.u32 {%r3, %r9}, [%rd1];"
    out = np.zeros(2, np.uint32)
    done = launch(Module.from_ptx(chain(2, wrong=wrong)).kernel("k"), 1, 1, [out, np.uint32(2)])
    assert (done.ended, done.faults, out[0]) == ("finished", (), 6)
