"""What a terminal report promises whatever the result: width, order, no control characters."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from grader.report import html, markdown, terminal
from grader.result import Fault, LineMetrics, Metrics, Result, Severity, Verdict
from grader.verdict import VERDICT_OF_FAULT, worst
from tests.report import results


def shown(result: Result, *, encoding: str = "utf-8", color: bool = False, **options: bool) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    out = Console(
        file=file, width=80, force_terminal=color, highlight=False, markup=False, emoji=False
    )
    terminal.show(result, out, **options)
    file.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
@pytest.mark.parametrize("verbose", [False, True])
def test_fits_80_columns(make: Callable[[], Result], verbose: bool) -> None:
    lines = shown(make(), verbose=verbose).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_says_verdict_and_next_step_in_the_first_screen(make: Callable[[], Result]) -> None:
    result = make()
    text = shown(result)
    first = " ".join(text.split("\n")[:24])
    assert terminal.words.TITLES[result.verdict].upper() in first
    if result.next_step:
        assert " ".join(f"Next: {result.next_step}".split()) in " ".join(first.split())


def test_no_colour_where_the_output_is_no_terminal() -> None:
    assert "\x1b" not in shown(results.out_of_bounds())
    assert "\x1b" in shown(results.out_of_bounds(), color=True)


def test_no_colour_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(results.out_of_bounds(), color=True)
    assert "\x1b[31m" not in text
    assert "\x1b[1;31m" not in text


def test_students_text_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in shown(results.hostile(), verbose=True)


def test_a_line_the_kernel_printed_is_no_ci_command() -> None:
    """The runner of GitHub Actions obeys lines that begin with :: after blanks."""
    lines = shown(results.out_of_bounds(), verbose=True).splitlines()
    assert any(": :error::" in line for line in lines)
    assert not any(line.strip().startswith("::") for line in lines)


def test_ascii_terminal_gets_ascii() -> None:
    assert shown(results.accepted(), encoding="ascii", verbose=True).isascii()


def test_caret_stands_under_the_column() -> None:
    lines = shown(results.out_of_bounds()).splitlines()
    caret = next(i for i, line in enumerate(lines) if line.rstrip().endswith("^"))
    assert lines[caret - 1][lines[caret].index("^") :].startswith("A[i] + B[i]")


def test_quiet_is_one_line() -> None:
    assert shown(results.wrong_answer(), quiet=True).splitlines() == [
        "assignment3: wrong_answer, 40 of 100 points"
    ]


def test_every_verdict_has_a_title() -> None:
    assert set(terminal.words.TITLES) == set(Verdict)


def test_a_path_is_kept_in_one_piece_to_be_copied() -> None:
    out = Console(file=io.StringIO(), width=80)
    path = "/".join(["folder"] * 20)
    terminal.lines(out, f"Report: {path} and what else there is to say of it", whole=True)
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue().splitlines() == [
        "Report:", path, "and what else there is to say of it",
    ]  # fmt: skip


def beside(*faults: Fault, lines: tuple[LineMetrics, ...] = ()) -> Result:
    """A wrong answer with these findings beside its wrong numbers."""
    base = results.wrong_answer()
    (case,) = base.cases
    metrics = Metrics(counts={}, lines=lines)
    verdict = worst(VERDICT_OF_FAULT[fault.kind] for fault in faults)
    case = case.model_copy(update={"faults": faults, "verdict": verdict, "metrics": metrics})
    return base.model_copy(update={"verdict": verdict, "cases": (case,)})


def test_wrong_numbers_are_said_where_a_finding_leads() -> None:
    """They may be a second mistake: a student would mend the first and meet the second."""
    result = beside(results.OUT_OF_BOUNDS)
    expected = "case tail: C[256] should be 0.5, found 0"
    assert f"wrong numbers: {expected}" in " ".join(shown(result).split())
    assert expected in markdown.render(result).replace("\\", "")
    assert "case tail: C[256] should be 0.5" in html.render(result)
    assert "wrong numbers" not in shown(results.wrong_answer())  # they lead there
    assert "wrong numbers" not in shown(results.out_of_bounds())  # there are none


def test_an_output_that_nobody_wrote_shows_its_own_line() -> None:
    """Of two kernels the one that has the output, even where the other's numbers are wrong."""
    missing = Fault(kind="unwritten", severity=Severity.ERROR, buffer="grid", index=0, extent=9,
                    count=9, message="no element of grid was written")  # fmt: skip
    lines = tuple(
        LineMetrics(file="vec_add.cu", line=line, counts={"global_store_requests": 1.0},
                    stores_to=(output,))
        for line, output in ((6, "C"), (4, "grid"))
    )  # fmt: skip
    text = shown(beside(missing, lines=lines))
    assert " > 4 |" in text and " > 6 |" not in text


def test_what_was_never_freed_waits_behind_what_changes_numbers() -> None:
    leak, copy = (
        Fault(kind=kind, severity=Severity.ERROR, file="vec_add.cu", line=line, buffer="d",
              message=kind)
        for kind, line in (("leak", 3), ("bad_copy", 6))
    )  # fmt: skip
    result = beside(leak, copy)
    assert "vec_add.cu:6: bad_copy" in shown(result).split("Also found")[0]
    assert terminal.words.in_short(result.cases[0]) == "line 6, d"
