"""Triton through the whole line: its words, heuristics, autotune choices, tf32, undefined lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import grade
from grader.languages import triton
from grader.result import Result, Verdict

pytestmark = pytest.mark.skipif(
    triton.missing() is not None, reason="Triton has wheels for Linux only"
)

HEAD = """
name = "{name}"
title = "{name}"
languages = ["triton"]

[rubric]
build = 10
correct = 50
bounds = 20
sync = 20

[tolerance.float32]
rtol = 1e-5
atol = 1e-5
"""

ROWS = (
    HEAD.format(name="rows")
    + """
[sizes]
R = "rows"
C = "columns"

[[buffer]]
name = "X"
role = "input"
dtype = "float32"
shape = ["R", "C"]

[[buffer]]
name = "S"
role = "output"
dtype = "float32"
shape = ["R"]

[[constant]]
name = "BLOCK"
default = 128
languages = ["triton"]

[[kernel]]
name = "row_sums"
[kernel.triton]
parameters = ["x: *fp32", "s: *fp32", "n: i32", "BLOCK: constexpr"]

[[launch]]
kernel = "row_sums"
args = ["X", "S", "C"]
[launch.triton]
grid = "R * cdiv(C, BLOCK)"

[[case]]
name = "less than a warp"
sizes = { R = 3, C = 20 }

[[case]]
name = "a power of two"
sizes = { R = 2, C = 256 }

[[case]]
name = "one more"
sizes = { R = 4, C = 257 }
"""
)

ROW_SUMS = """\
import triton
import triton.language as tl


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def row_sums(x, s, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + cols, mask=cols < n, other=0.0)
    tl.store(s + row, tl.sum(values, axis=0))
"""

DOT = (
    HEAD.format(name="dot")
    + """
[sizes]
N = "rows and columns"

[[buffer]]
name = "A"
role = "input"
dtype = "float32"
shape = ["N", "N"]

[[buffer]]
name = "B"
role = "input"
dtype = "float32"
shape = ["N", "N"]

[[buffer]]
name = "C"
role = "output"
dtype = "float32"
shape = ["N", "N"]

[[kernel]]
name = "matmul"
[kernel.triton]
parameters = ["a: *fp32", "b: *fp32", "c: *fp32"]

[[launch]]
kernel = "matmul"
args = ["A", "B", "C"]
[launch.triton]
grid = 1

[[case]]
name = "one tile"
sizes = { N = 16 }
"""
)

MATMUL = """\
import triton
import triton.language as tl

N = tl.constexpr(16)


@triton.jit
def matmul(a, b, c):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee"))
"""

INPUTS = {
    "rows": """
import numpy as np

def inputs(sizes, rng, case):
    return {"X": rng.uniform(-1, 1, (sizes["R"], sizes["C"])).astype(np.float32)}

def oracle(inputs, sizes):
    return {"S": inputs["X"].astype(np.float64).sum(axis=1)}
""",
    "dot": """
import numpy as np

def inputs(sizes, rng, case):
    n = sizes["N"]
    return {name: rng.uniform(-1, 1, (n, n)).astype(np.float32) for name in "AB"}

def oracle(inputs, sizes):
    return {"C": inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)}
""",
}


@pytest.fixture
def submit(tmp_path: Path):
    for name, toml, kernel in (("rows", ROWS, ROW_SUMS), ("dot", DOT, MATMUL)):
        folder = tmp_path / "assignments" / name
        folder.mkdir(parents=True)
        (folder / "assignment.toml").write_text(toml)
        (folder / "inputs.py").write_text(INPUTS[name])
        (folder / "README.md").write_text(f"# {name}\n")
        reference = tmp_path / "reference" / name
        reference.mkdir(parents=True)
        (reference / "kernel.py").write_text(kernel)

    def submit_text(name: str, text: str) -> Result:
        path = tmp_path / "kernel.py"
        path.write_text(text)
        return grade.submit(str(tmp_path / "assignments" / name), path, jobs=1)

    return submit_text


def test_a_heuristic_decides_block_and_grid(submit):
    result = submit("rows", ROW_SUMS)
    assert result.verdict is Verdict.ACCEPTED, result.reason
    # 20 columns: 32 of a block; 257: 512. One program a row each time, or S would be overrun.
    assert len(result.cases) == 3


def test_undefined_lanes_that_reach_a_sum(submit):
    result = submit("rows", ROW_SUMS.replace(", other=0.0", ""))
    assert result.verdict is Verdict.UNINITIALISED
    fault = next(f for f in result.cases[0].faults if f.kind == "uninitialised")
    assert (fault.line, fault.buffer) == (10, "X")
    assert "beyond the mask `cols < n`" in fault.message
    assert "other=0.0" in result.next_step
    by_name = {case.name: case.verdict for case in result.cases}
    assert by_name["a power of two"] is Verdict.ACCEPTED  # no lane lies beyond


def test_one_wrong_choice_of_the_tuner_is_wrong(submit):
    text = ROW_SUMS.replace(
        '@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})',
        "@triton.autotune([triton.Config({'BLOCK': 512}), triton.Config({'BLOCK': 128})], ['n'])",
    )
    result = submit("rows", text)
    assert result.verdict is not Verdict.ACCEPTED
    assert {case.name: case.verdict for case in result.cases}["less than a warp"] is (
        Verdict.ACCEPTED
    )


def test_fp32_that_is_multiplied_as_tf32(submit):
    assert submit("dot", MATMUL).verdict is Verdict.ACCEPTED
    result = submit("dot", MATMUL.replace(', input_precision="ieee"', ""))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.next_step.startswith("`tl.dot` on line 11 multiplies fp32 as tf32")
