"""What a student sees: nothing of a hidden case but its verdict and the line of a fault."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from grader import advice, ci, feedback, report, watch
from grader.assignment_schema import Feedback
from grader.report import classroom, gradescope, json, junit, sarif, terminal, workflow
from grader.result import CaseResult, Record, Verdict
from grader.verdict import VERDICT_OF_FAULT, worst
from tests.report import results


def test_a_hidden_case_shows_no_number() -> None:
    result = results.out_of_bounds()
    hidden = result.cases[1].model_copy(update={"hidden": True, "sizes": {"N": 123457}})
    shown = feedback.shown((result.cases[0], hidden), "full")
    assert shown[0] == result.cases[0]
    assert shown[1].verdict is Verdict.OUT_OF_BOUNDS
    assert shown[1].faults[0].line == 6
    step = advice.next_step(Verdict.OUT_OF_BOUNDS, shown[1:], source=results.SOURCE)
    assert step
    for secret in ("123457", "232", "1000", "::error"):
        assert secret not in json.dumps(shown[1])
        assert secret not in step


def test_feedback_verdict_shows_no_case() -> None:
    assert feedback.shown(results.out_of_bounds().cases, "verdict") == ()


def test_feedback_cases_shows_verdicts_only() -> None:
    [case] = feedback.shown(results.wrong_answer().cases, "cases")
    assert case.verdict is Verdict.WRONG_ANSWER
    assert case.mismatch is None
    assert case.sizes == {}


SAID = {
    "CaseResult": {"name", "device", "verdict", "hidden", "large", "weight", "seconds"},
    "Fault": {"kind", "severity", "access", "space", "buffer", "size_bytes", "file", "line",
              "column"},
    "Step": {"name", "ok", "line"},
}  # fmt: skip
"""What a case that is not shown says; every other field of any record in it is filled below."""


def filled(kind: Any, name: str, mark: Iterator[int]) -> Any:
    """A value of a type in which every number and text is a mark that nothing else has."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if get_origin(kind) is tuple:
        inner = [k for k in get_args(kind) if k is not ...]
        return tuple(filled(k, name, mark) for k in inner)
    if get_origin(kind) is dict:
        return {f"mark{next(mark)}": filled(get_args(kind)[1], name, mark)}
    if isinstance(kind, type) and issubclass(kind, Record):
        kinds = get_type_hints(kind, include_extras=True)
        said = SAID.get(kind.__name__, set()) if name in ("", "faults", "steps") else set()
        rest = [key for key in kind.model_fields if key not in said]
        values = {key: filled(kinds[key], key, mark) for key in rest}
        given = {key: value for key, value in PLAIN.items() if key in said}
        return kind.model_validate({**values, **given})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1]
    if kind is bool:
        return False
    if kind is str:
        return f"mark{next(mark)}"
    assert kind in (int, float), (name, kind)
    return kind(next(mark))


PLAIN = {
    "name": "kept back", "device": "virtual", "verdict": "out_of_bounds", "hidden": True,
    "kind": "out_of_bounds", "severity": "error", "file": "vec_add.cu", "line": 6, "ok": False,
}  # fmt: skip


@pytest.mark.parametrize("level", ["full", "first", "cases", "verdict"])
def test_no_field_of_a_hidden_case_gets_past(level: Feedback, tmp_path: Path) -> None:
    """Whatever a record may come to hold: it is filled by its own schema, and looked for."""
    hidden = filled(CaseResult, "", itertools.count(7_310_000))
    whole = results.out_of_bounds()
    shown = whole.cases[0]
    whole = whole.model_copy(
        update={
            "cases": (hidden, shown),
            "reason": advice.reason(whole.verdict, (hidden,)),
            "next_step": advice.next_step(whole.verdict, (hidden,), source=results.SOURCE),
        }
    )
    assert json.dumps(whole).count("731") > 90 and "731" in whole.reason
    told = feedback.told(whole, level)
    report.write(told, tmp_path)
    texts = [path.read_text() for path in tmp_path.iterdir()]
    texts += [junit.render([("ann", told)]), sarif.render([("ann", told)])]
    texts += [gradescope.render(told), classroom.classroom50(told, {})]
    texts += [str(classroom.legacy(told)), *workflow.lines(told), ci.summary(told)]
    out = io.StringIO()
    terminal.show(told, Console(file=out, width=80), verbose=True)
    for text in (*texts, out.getvalue()):
        assert not re.search(r"7,?31\d,?\d{3}|mark731", text)
    assert told.verdict is whole.verdict and told.score.points == whole.score.points
    assert feedback.told(told, level) == told


@given(
    st.lists(
        st.sampled_from(["accepted", "slow", "out_of_bounds", "wrong_answer", "race"]),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_what_was_told_stays_as_it_is(makers: list[str], data: st.DataObject) -> None:
    """An old gradebook holds reduced results: to reduce one again changes nothing."""
    made = [getattr(results, name)() for name in makers]
    cases = tuple(
        case.model_copy(update={"name": f"{n}", "hidden": data.draw(st.booleans())})
        for n, case in enumerate(case for one in made for case in one.cases)
    )
    verdict = worst(case.verdict for case in cases)
    base = next(one for one in made if one.verdict is verdict)
    for level in ("full", "first", "cases", "verdict"):
        told = feedback.told(base.model_copy(update={"cases": cases}), level)
        assert feedback.told(told, level) == told
        assert feedback.told(told, "full").cases == told.cases


@pytest.mark.parametrize("kind", sorted(VERDICT_OF_FAULT))
def test_every_report_can_be_written_of_a_hidden_case(kind: str, tmp_path: Path) -> None:
    """Numbers that are not said must not be asked for, whatever went wrong in the hidden case."""
    result = results.out_of_bounds()
    verdict = VERDICT_OF_FAULT[kind]
    fault = results.OUT_OF_BOUNDS.model_copy(update={"kind": kind})
    hidden = result.cases[1].model_copy(
        update={"hidden": True, "faults": (fault,), "verdict": verdict}
    )
    shown = feedback.shown((hidden,), "full")
    found = result.model_copy(update={"cases": shown, "verdict": verdict})
    report.write(found, tmp_path)
    for verbose in (False, True):
        out = io.StringIO()
        terminal.show(found, Console(file=out, width=80), verbose=verbose)
        assert "[1000]" not in out.getvalue()
    assert "[1000]" not in (tmp_path / "report.md").read_text()
    assert junit.render([("ann", found)]) and sarif.render([("ann", found)])
    assert watch.difference(found, found) == watch.Difference(fixed=(), new=())
