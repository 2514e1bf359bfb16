"""`grade run` of a whole program: what a terminal shows."""

from __future__ import annotations

from rich.console import Console

from grader.report.run_program import show
from grader.result import Build, Fault, Severity
from grader.run_program import ProgramRun


def test_a_kernel_without_end_is_told_what_to_try() -> None:
    build = Build(language="cuda-c", compiler="clang (host)", version="22", ok=True)
    reason = "kernel spin: the instruction budget is used up after 400 warp instructions"
    found = ProgramRun(
        file="a.cu",
        arguments=(),
        ended="fuel",
        builds=(build,),
        reason=reason,
        launches={"spin": 1},
    )
    out = Console(record=True, width=100, quiet=False, force_terminal=False)
    show(found, {}, out)
    said = out.export_text()
    assert f"a kernel did not end\n{reason}\n" in said
    assert "If no loop is endless, give the program less to do" in said


def test_a_finding_in_another_file_shows_its_line() -> None:
    fault = Fault(
        kind="leak",
        severity=Severity.WARNING,
        message="12 bytes are never freed",
        file="more.cu",
        line=2,
    )
    build = Build(language="cuda-c", compiler="clang (host)", version="22", ok=True)
    found = ProgramRun(file="a.cu", ended="exited", exit_status=0, faults=(fault,), builds=(build,))
    out = Console(record=True, width=100, force_terminal=False)
    show(
        found,
        {"a.cu": "int main() {\n}\n", "more.cu": "void make() {\n  cudaMalloc(&p, 12);\n}\n"},
        out,
    )
    assert " >     2 |   cudaMalloc(&p, 12);" in out.export_text()
