"""Results of every odd kind: each has all its reports, of a size that can be opened and sent."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from grader.report import html, junit, markdown, sarif, terminal
from grader.report import json as result_json
from grader.result import CaseResult, Diagnostic, LineMetrics, Metrics, Result, Score, Verdict
from tests.report import results

LONG = "x" * 100_000
BIDI = "\N{RIGHT-TO-LEFT OVERRIDE}gnol\N{POP DIRECTIONAL FORMATTING} \N{LEFT-TO-RIGHT ISOLATE}"
HOSTILE = f"</code><script>alert(1)</script> {BIDI} \x1b]0;title\x07 ::error::x \x00"


def plain(verdict: Verdict, **more: object) -> Result:
    """A result without cases, findings or files."""
    return results.refused().model_copy(update={"verdict": verdict, **more})


def ten_thousand_faults() -> Result:
    faults = tuple(
        results.OUT_OF_BOUNDS.model_copy(update={"line": number % 400 + 1, "buffer": f"b{number}"})
        for number in range(10_000)
    )
    source = "".join(f"    C[{n}] = A[{n}];\n" for n in range(400))
    base = results.out_of_bounds()
    case = base.cases[1].model_copy(update={"faults": faults})
    file = results.FILE.model_copy(update={"text": source})
    return base.model_copy(update={"cases": (case,), "files": (file,)})


def long_lines() -> Result:
    base = results.out_of_bounds()
    file = results.FILE.model_copy(update={"text": f"{LONG}\n" * 5 + f"  {LONG}A[i];\n"})
    fault = results.OUT_OF_BOUNDS.model_copy(update={"message": LONG, "column": 90_000})
    case = base.cases[1].model_copy(update={"faults": (fault,), "printed": LONG})
    return base.model_copy(update={"cases": (case,), "files": (file,), "next_step": LONG})


def hostile_everywhere() -> Result:
    base = results.build_failed()
    name = f"{HOSTILE}.cu"
    error = Diagnostic(file=name, line=1, column=3, severity="error", message=HOSTILE)
    build = base.builds[0].model_copy(update={"diagnostics": (error,), "log": HOSTILE})
    file = results.FILE.model_copy(update={"name": name, "text": HOSTILE})
    return base.model_copy(
        update={"builds": (build,), "files": (file,), "mentions": (HOSTILE,), "reason": HOSTILE}
    )


def empty_source() -> Result:
    base = results.out_of_bounds()
    return base.model_copy(update={"files": (results.FILE.model_copy(update={"text": ""}),)})


def no_time_and_no_lines() -> Result:
    base = results.accepted()
    cases = tuple(
        case.model_copy(update={"metrics": Metrics(), "timing": None, "reference": None})
        for case in base.cases
    )
    return base.model_copy(update={"cases": cases, "notes": None})


def lines_beyond_the_source() -> Result:
    base = results.slow()
    line = LineMetrics(file=None, line=99_999, counts={"global_sectors": 9e15})
    cases = tuple(c.model_copy(update={"metrics": Metrics(lines=(line,))}) for c in base.cases)
    return base.model_copy(update={"cases": cases})


def timed_out() -> Result:
    case = CaseResult(name="one", device="virtual", verdict=Verdict.TIMED_OUT, reason="too long")
    return plain(Verdict.TIMED_OUT, cases=(case,), files=(results.FILE,), language="cuda-c")


def not_gradable() -> Result:
    return plain(
        Verdict.NOT_GRADABLE, score=Score(points=None, out_of=100), reason="Triton has no wheel"
    )


def without_a_word() -> Result:
    return plain(Verdict.WRONG_ANSWER, reason="", next_step="", versions={}, created="")


ALL = (
    ten_thousand_faults,
    long_lines,
    hostile_everywhere,
    empty_source,
    no_time_and_no_lines,
    lines_beyond_the_source,
    timed_out,
    not_gradable,
    without_a_word,
    results.refused,
    results.grader_error,
)

odd = pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)


@odd
def test_html(make: Callable[[], Result]) -> None:
    text = html.render(make())
    assert len(text) < 8_000_000
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text


@odd
def test_markdown(make: Callable[[], Result]) -> None:
    text = markdown.render(make())
    assert len(text.encode()) <= 65_536
    assert "\x1b" not in text
    assert "\n::error" not in text
    assert len(text.strip().splitlines()) > 1


@odd
@pytest.mark.parametrize("verbose", [False, True])
def test_terminal(make: Callable[[], Result], verbose: bool) -> None:
    out = Console(file=io.StringIO(), width=80, highlight=False, markup=False, emoji=False)
    terminal.show(make(), out, verbose=verbose)
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert len(text) < (4_000_000 if verbose else 20_000)


@odd
def test_formats_for_machines(make: Callable[[], Result]) -> None:
    result = make()
    assert result_json.loads(result_json.dumps(result)) == result
    assert junit.render([("who", result)])
    assert sarif.render([("who", result)])
