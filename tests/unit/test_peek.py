"""`grade peek`: every step of every backend, with file and line or said to be unknown."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.console import Console

from grader import cli, peek, peek_run
from grader.errors import UsageError
from grader.notes import facts, sources
from grader.notes.sources import Sources
from grader.report import peek as shown

ALONE = Sources(packages=False)
STEPS = ["check", "allocate", "pick a kernel", "launch geometry", "launch", "return"]
FACTS = ["global id", "bounds check", "operation"]


@pytest.mark.parametrize("operation", peek.OPERATIONS)
def test_every_backend_shows_every_step(operation: str) -> None:
    found = peek.peek(operation, use=ALONE, run=False)
    assert [(k.framework, k.backend) for k in found.kernels] == list(peek.BACKENDS)
    for kernel in found.kernels:
        assert [line.name for line in kernel.steps] == STEPS
        assert [line.name for line in kernel.facts] == FACTS
        assert all(line.text for line in (*kernel.steps, *kernel.facts))


def test_add_of_numpy_at_a_named_version() -> None:
    (kernel,) = peek.peek("add", "numpy", "2.0.2", use=ALONE, run=False).kernels
    by_name = {line.name: peek.where(line) for line in (*kernel.steps, *kernel.facts)}
    loop = "numpy/_core/src/umath/loops_arithm_fp.dispatch.c.src"
    assert kernel.version_from == "named"
    assert by_name["bounds check"] == f"{loop}:110"
    assert by_name["operation"] == f"{loop}:115-116"
    assert by_name["global id"] == ""
    assert by_name["launch"].startswith("numpy/_core/src/umath/ufunc_object.c:")
    assert (
        kernel.citation == f"numpy/numpy v2.0.2 {loop} (bounds check line 110, add lines 115-116)"
    )
    assert "OpenBLAS has no part" in kernel.lesson


def test_an_old_version_has_its_own_paths_and_lines() -> None:
    (old,) = peek.peek("add", "numpy", "1.26.4", use=ALONE, run=False).kernels
    assert all("/_core/" not in (line.path or "") for line in (*old.steps, *old.facts))
    metal = peek.peek("add", "mlx", "0.16.0", use=ALONE, run=False).kernels[0]
    check = next(line for line in metal.facts if line.name == "bounds check")
    assert (check.line, check.text) == (None, "none: the grid has exactly N threads")


def test_a_version_that_was_not_examined_says_where_it_is_at_the_nearest() -> None:
    (kernel,) = peek.peek("multiply", "cupy", "14.9", use=ALONE, run=False).kernels
    launch = next(line for line in kernel.steps if line.name == "launch")
    assert launch.line is None
    assert peek.where(launch) == "cupy/cuda/function.pyx, line unknown (line 167 at v14.2.0)"


def test_lines_of_an_installed_header_are_looked_up_in_it() -> None:
    version = sources.installed_version("mlx")
    if version is None:
        pytest.skip("mlx is not installed here")
    metal = peek.peek("add", "mlx", use=Sources(), run=False).kernels[0]
    found = sources.in_package("mlx", "mlx/backend/metal/kernels/binary.h")
    assert found is not None and found.text is not None
    for line in metal.facts[:2]:
        assert line.line is not None
        text = facts.split_lines(found.text)[line.line - 1]
        wanted = {"global id": "thread_position_in_grid", "bounds check": "index + N > size"}
        assert wanted[line.name] in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("frobnicate",), "no such operation: frobnicate"),
        (("add", "tensorflow"), "nothing is known about tensorflow"),
        (("add", None, "2.0"), "a version needs a framework"),
        (("add", "numpy", "newest"), "newest is no version"),
    ],
)
def test_what_cannot_be_asked(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError) as error:
        peek.peek(*arguments, use=ALONE, run=False)
    assert message in error.value.message


@pytest.mark.parametrize("operation", peek.OPERATIONS)
def test_numpy_runs_live_and_is_right(operation: str) -> None:
    said = peek_run.run(operation, {"numpy"})["numpy", "cpu"]
    assert said.startswith(f"numpy {np.__version__}: ")
    assert said.endswith("right")
    if operation != "where":
        assert "dispatch target for float32: " in said


def test_a_wrong_result_would_be_said() -> None:
    given = peek_run.inputs("add")
    assert peek_run._judged("add", given, given[0]) == "WRONG"


def test_the_terminal_keeps_paths_whole_and_json_says_the_same() -> None:
    found = peek.peek("add", "torch.compile", use=ALONE, run=False)
    out = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    shown.show(found, out)
    text = out.export_text()
    assert "add in torch.compile on CUDA" in text
    for line in found.kernels[0].steps:
        assert peek.where(line) in text
    assert json.loads(found.model_dump_json())["kernels"][0]["backend"] == "compile-triton"


def test_the_command_prints_json_only(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["peek", "exp", "--framework", "numpy", "--version", "2.5.2", "--json", "-"])
    assert ended.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["kernels"][0]["version"] == "v2.5.2"
