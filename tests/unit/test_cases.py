"""What a case hands to a device: the same on every grading, checked against what was declared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader import assignment, cases
from grader.assignment_schema import Assignment, Case
from grader.errors import AssignmentError, UsageError

SHIPPED = Path(__file__).resolve().parents[2] / "assignments"

TOML = """
name = "two_steps"
title = "Two launches with a scratch buffer"
languages = ["cuda-c"]

[sizes]
N = "number of elements"
REPEAT = { about = "how often", default = 3 }

[[buffer]]
name = "x"
role = "input"
dtype = "float32"
shape = ["N"]

[[buffer]]
name = "partial"
role = "scratch"
dtype = "float32"
shape = ["cdiv(N, BLOCK)"]
initial = "zero"

[[buffer]]
name = "total"
role = "output"
dtype = "float32"
shape = [1]

[[scalar]]
name = "alpha"
dtype = "float32"

[[constant]]
name = "BLOCK"
default = 128

[[kernel]]
name = "partials"
[kernel.cuda-c]
parameters = ["const float* x", "float* partial", "float alpha", "int n"]

[[kernel]]
name = "finish"
[kernel.cuda-c]
parameters = ["const float* partial", "float* total", "int n", "int repeat"]

[[launch]]
kernel = "partials"
args = ["x", "partial", "alpha", "N"]
grid = "cdiv(N, BLOCK)"
block = ["BLOCK", 1]
shared = "4 * BLOCK"

[[launch]]
kernel = "finish"
args = ["partial", "total", "cdiv(N, BLOCK)", "REPEAT"]
grid = 1
block = 256

[tolerance.float32]
rtol = 1e-5

[[case]]
name = "fixed"
sizes = { N = 1000 }

[[case]]
name = "drawn"
sizes = { N = [10, 10_000] }
hidden = true
constants = { BLOCK = 64 }

[rubric]
build = 10
correct = 90
"""
INPUTS = """
import numpy as np

def inputs(sizes, rng, case):
    return {"x": rng.random(sizes["N"], dtype=np.float32), "alpha": 0.5}

def oracle(inputs, sizes):
    x = inputs["x"].astype(np.float64)
    return {"total": (np.array([inputs["alpha"] * x.sum()]), np.array([np.abs(x).sum()]))}
"""


def made(folder: Path, toml: str = TOML, inputs: str = INPUTS) -> Assignment:
    home = folder / "assignments" / "two_steps"
    home.mkdir(parents=True)
    (home / "assignment.toml").write_text(toml)
    (home / "inputs.py").write_text(inputs)
    return assignment.read(home / "assignment.toml")


def named(of: Assignment, name: str) -> Case:
    return next(case for case in of.cases if case.name == name)


def test_launches_in_numbers(tmp_path: Path) -> None:
    course = made(tmp_path)
    case = named(course, "fixed")
    data = cases.inputs(course, case)
    first, second = cases.launches(course, "cuda-c", case, data.sizes)
    assert (first.grid, first.block, first.shared_bytes) == ((8, 1, 1), (128, 1, 1), 512)
    assert [(a.name, a.kind, a.dtype, a.value) for a in first.arguments] == [
        ("x", "buffer", "float32", None),
        ("partial", "buffer", "float32", None),
        ("alpha", "scalar", "float32", None),
        ("N", "number", "int32", 1000),
    ]
    assert [a.value for a in second.arguments] == [None, None, 8, 3]
    assert data.scalars == {"alpha": np.float32(0.5)}
    (first, second), contracts = (
        cases.launches(course, "cuda-c", case, data.sizes, declared={"BLOCK": 32}),
        cases.contracts(course, "cuda-c", [(case, data)]),
    )
    assert first.grid == (32, 1, 1) and second.arguments[2].value == 32
    assert contracts[0].calls == ({"alpha": 0.5, "n": 1000},)
    assert contracts[1].calls == ({"n": 8, "repeat": 3},)


def test_scratch_is_as_large_as_the_source_asks_for(tmp_path: Path) -> None:
    course = made(tmp_path)
    case = named(course, "fixed")
    data = cases.inputs(course, case)
    assert data.buffers[1].shape == (8,)
    built = cases.for_build(course, "cuda-c", case, data, {"BLOCK": 32})
    assert built.buffers[1].shape == (32,)
    assert built.buffers[1].initial is not None and not built.buffers[1].initial.any()
    assert built.buffers[0] is data.buffers[0]


def test_the_case_chooses_a_constant_unless_the_source_does(tmp_path: Path) -> None:
    course = made(tmp_path)
    case = named(course, "drawn")
    assert cases.launches(course, "cuda-c", case, {"N": 640, "REPEAT": 1})[0].grid == (10, 1, 1)
    declared = cases.launches(
        course, "cuda-c", case, {"N": 640, "REPEAT": 1}, declared={"BLOCK": 320}
    )
    assert declared[0].grid == (2, 1, 1)


def test_two_gradings_see_the_same_numbers(tmp_path: Path) -> None:
    course = made(tmp_path)
    for case in course.cases:
        first, second = cases.inputs(course, case, b"k"), cases.inputs(course, case, b"k")
        assert first.sizes == second.sizes
        assert np.array_equal(first.arrays()["x"], second.arrays()["x"])


def test_only_hidden_cases_depend_on_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = made(tmp_path)
    open_, hidden = course.cases
    assert cases.seed(course, open_, b"a") == cases.seed(course, open_, b"b")
    assert cases.seed(course, hidden, b"a") != cases.seed(course, hidden, b"b")
    drawn = {cases.sizes(course, hidden, bytes([i]))["N"] for i in range(8)}
    assert len(drawn) > 1 and all(10 <= n <= 10_000 for n in drawn)
    monkeypatch.setenv("GRADE_SECRET", "a")
    assert cases.secret() == b"a"
    monkeypatch.delenv("GRADE_SECRET")
    (tmp_path / "secret").write_text("b\n")
    monkeypatch.setenv("GRADE_SECRET_FILE", str(tmp_path / "secret"))
    assert cases.secret() == b"b"
    monkeypatch.setenv("GRADE_SECRET_FILE", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="cannot be read"):
        cases.secret()


def test_the_oracle_is_asked_with_a_copy(tmp_path: Path) -> None:
    spoils = INPUTS.replace('x = inputs["x"]', 'inputs["x"][:] = 0; x = inputs["x"]')
    course = made(tmp_path, inputs=spoils)
    case = named(course, "fixed")
    data = cases.inputs(course, case)
    cases.expected(course, data)
    assert data.arrays()["x"].any()


def test_expected_values_and_their_scale(tmp_path: Path) -> None:
    course = made(tmp_path)
    data = cases.inputs(course, named(course, "fixed"))
    total = cases.expected(course, data)["total"]
    exact = data.arrays()["x"].astype(np.float64).sum()
    assert total.value.dtype == np.float64 and total.value[0] == exact / 2
    assert total.scale is not None and total.scale[0] == exact


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dtype=np.float32", "dtype=np.float64", "x must be float32 of shape (1000,)"),
        ('rng.random(sizes["N"]', 'rng.random(sizes["N"] + 1', "found float32 of shape (1001,)"),
        ('"alpha": 0.5', "", "returns no 'alpha'"),
        ('"alpha": 0.5', '"alpha": 0.5, "y": 1', "'y', which nothing declares"),
        ('"alpha": 0.5', '"alpha": 0.5, "total": 1', "'total', an output"),
        ("    return {\"x\"", "    return [", "SyntaxError"),
        ('sizes["N"]', 'sizes["M"]', "inputs.py:5: KeyError: 'M'"),
        ("def inputs", "def input", "no function inputs()"),
        ("import numpy", "import no_such_module, numpy", "inputs.py:2: ModuleNotFoundError"),
        ('"total": (', '"sum": (', "oracle() returns no 'total'"),
        ("np.array([inputs", "np.float32([inputs", "total as float64, found float32"),
        ("np.array([np.abs(x).sum()])", "np.abs(x)", "the shape (1,), found (1000,)"),
    ],
)  # fmt: skip
def test_a_mistake_in_inputs_py_is_the_authors(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in INPUTS
    course = made(tmp_path, inputs=INPUTS.replace(old, new, 1))
    with pytest.raises(AssignmentError) as raised:
        cases.expected(course, cases.inputs(course, named(course, "fixed")))
    assert words in raised.value.message and "inputs.py" in raised.value.message


@pytest.mark.parametrize("name", sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()))
def test_every_shipped_case_can_be_made(name: str) -> None:
    course = assignment.read(SHIPPED / name / "assignment.toml")
    for case in course.cases:
        data = cases.inputs(course, case)
        answers = cases.expected(course, data)
        assert set(answers) == {buffer.name for buffer in course.outputs()}
        # Only kernels have launches; programs and `solve` launch for themselves.
        for language in course.languages if course.kind == "kernel" else ():
            launched = cases.launches(course, language, case, data.sizes)
            assert launched
            for launch in launched:
                assert launch.block[0] * launch.block[1] * launch.block[2] <= 1024
