"""Points: which item a finding loses, whole numbers that add up, and what speed earns."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import assignment
from grader.assignment_schema import Assignment, NotesRubric, Rubric, Speed
from grader.result import (
    CaseResult,
    Fault,
    Measured,
    Metrics,
    Mismatch,
    NoteClaim,
    NoteEntry,
    Notes,
    ReferenceRun,
    Score,
    Severity,
    Timing,
    Verdict,
)
from grader.score import _whole, score
from grader.verdict import ITEM_OF_VERDICT, VERDICT_OF_FAULT

SHIPPED = Path(__file__).resolve().parents[2] / "assignments" / "assignment3"
PLAIN = Rubric(build=10, correct=40, bounds=20, sync=20, speed=10)


@pytest.fixture(scope="module")
def course() -> Assignment:
    found = assignment.read(SHIPPED / "assignment.toml")
    speed = Speed.model_validate(
        {
            "cases": ["big"],
            "tie_margin": 0.05,
            "metric": [{"name": "efficiency", "formula": "useful / (32 * sectors)", "points": 6,
                        "bands": [{"at_least": 0.9, "share": 1}, {"at_least": 0.4, "share": 0.5}]}],
            "time": {"points": 4, "bands": [{"at_most": 1.1, "share": 1},
                                            {"at_most": 2, "share": 0.5}]},
        },
        strict=False,
    )  # fmt: skip
    return found.model_copy(update={"rubric": PLAIN, "notes": None, "speed": speed})


def case(name: str = "small", verdict: Verdict = Verdict.ACCEPTED, **more: Any) -> CaseResult:
    return CaseResult(name=name, device="virtual", verdict=verdict, **more)


def fault(kind: str, severity: Severity = Severity.ERROR, **more: Any) -> Fault:
    return Fault(kind=kind, severity=severity, message="", **more)


MISMATCH = Mismatch(output="C", index=(0,), expected=1, actual=2, wrong=1, total=9, message="")


def by_item(found: Score) -> dict[str, int]:
    return {line.item: line.points for line in found.lines}


FULL = {"build": 10, "correct": 40, "bounds": 20, "sync": 20, "speed": 10}


def test_an_accepted_kernel_has_all_points(course: Assignment) -> None:
    found = score(course, Verdict.ACCEPTED, [case(), case("big")])
    assert by_item(found) == FULL
    assert (found.points, found.out_of) == (100, 100)


@pytest.mark.parametrize("verdict", [Verdict.GRADER_ERROR, Verdict.NOT_GRADABLE])
def test_our_fault_is_no_score(course: Assignment, verdict: Verdict) -> None:
    found = score(course, verdict, [case()])
    assert found == Score(points=None, out_of=100)


NOTES = Notes(file="notes.toml", entries=(NoteEntry(
    framework="numpy", verdict="right",
    claims=(NoteClaim(claim="file", verdict="right", reason=""),),
),))  # fmt: skip


def test_a_build_that_fails_keeps_the_notes_and_a_refused_submission_nothing(
    course: Assignment,
) -> None:
    noted = course.model_copy(update={
        "rubric": PLAIN.model_copy(update={"correct": 30, "notes": 10}),
        "notes": NotesRubric(claims={"file": 10}),
    })  # fmt: skip
    failed = score(noted, Verdict.BUILD_FAILED, [], NOTES)
    assert by_item(failed) == {**dict.fromkeys(FULL, 0), "notes": 10}
    assert failed.points == 10 and "does not build" in failed.lines[0].why
    assert score(noted, Verdict.REFUSED, [], NOTES).points == 0


@pytest.mark.parametrize("verdict", ITEM_OF_VERDICT)
def test_each_verdict_loses_its_item(course: Assignment, verdict: Verdict) -> None:
    found = score(course, verdict, [case(verdict=verdict)])
    assert by_item(found) == {**FULL, "speed": 0, ITEM_OF_VERDICT[verdict]: 0}


@pytest.mark.parametrize("kind", VERDICT_OF_FAULT)
def test_each_fault_loses_its_item_and_only_as_an_error(course: Assignment, kind: str) -> None:
    verdict = VERDICT_OF_FAULT[kind]
    found = score(course, verdict, [case(verdict=verdict, faults=(fault(kind),))])
    assert by_item(found) == {**FULL, "speed": 0, ITEM_OF_VERDICT[verdict]: 0}
    mild = fault(kind, Severity.WARNING)
    assert score(course, Verdict.ACCEPTED, [case(faults=(mild,)), case("big")]).points == 100


def test_a_case_loses_every_item_it_fails(course: Assignment) -> None:
    bad = case(
        verdict=Verdict.OUT_OF_BOUNDS,
        faults=(fault("out_of_bounds"), fault("race")),
        mismatch=MISMATCH,
    )
    found = score(course, Verdict.OUT_OF_BOUNDS, [bad])
    assert by_item(found) == {"build": 10, "correct": 0, "bounds": 0, "sync": 0, "speed": 0}


def test_items_are_weighted_by_case(course: Assignment) -> None:
    cases = [
        case("a", weight=2),
        case("b", Verdict.WRONG_ANSWER, mismatch=MISMATCH, weight=1),
        case("c", Verdict.OUT_OF_BOUNDS, faults=(fault("out_of_bounds"),), weight=1),
        case("d", Verdict.RACE, faults=(fault("race"),), weight=0),
    ]
    found = score(course, Verdict.OUT_OF_BOUNDS, cases)
    assert by_item(found) == {"build": 10, "correct": 30, "bounds": 15, "sync": 20, "speed": 0}
    reasons = {line.item: line.why for line in found.lines}
    assert "b" in reasons["correct"] and "c" in reasons["bounds"]


def test_a_kernel_that_does_nothing_shows_nothing(course: Assignment) -> None:
    idle = case(verdict=Verdict.WRONG_ANSWER, faults=(fault("unwritten", count=9, extent=9),))
    assert score(course, Verdict.WRONG_ANSWER, [idle]).points == 10
    half = case(verdict=Verdict.WRONG_ANSWER, faults=(fault("unwritten", count=4, extent=9),))
    assert score(course, Verdict.WRONG_ANSWER, [half]).points == 50


def test_what_nobody_worked_on_earns_nothing_unless_it_is_accepted(course: Assignment) -> None:
    cases = [case("a"), case("b", Verdict.WRONG_ANSWER, mismatch=MISMATCH)]
    found = score(course, Verdict.WRONG_ANSWER, cases, untouched=True)
    assert found.points == 0 and {line.why for line in found.lines} == {"it is still the starter"}
    kept = [case(), case("big")]  # an exercise may hand out what is right and ask for speed
    assert score(course, Verdict.ACCEPTED, kept, untouched=True).points == 100


def test_a_hidden_case_is_not_named(course: Assignment) -> None:
    bad = case("secret name", Verdict.WRONG_ANSWER, mismatch=MISMATCH, hidden=True)
    found = score(course, Verdict.WRONG_ANSWER, [bad])
    assert all("secret name" not in line.why for line in found.lines)


# ---- whole points ------------------------------------------------------------------------------

shares = st.fractions(0, 1, max_denominator=60)


@given(st.lists(st.tuples(st.integers(1, 60), shares), min_size=1, max_size=6))
def test_whole_points(items: list[tuple[int, Fraction]]) -> None:
    out_of, earned = [points for points, _ in items], [share for _, share in items]
    whole = _whole(out_of, earned)
    exact = [points * share for points, share in items]
    for points, share, value, got in zip(out_of, earned, exact, whole, strict=True):
        assert abs(value - got) < 1
        assert (got == points) == (share == 1)
        assert share > 0 or got == 0
    total = sum(exact)
    assert sum(whole) <= int(total + Fraction(1, 2))
    roomy = all(share in (0, 1) or points - value >= 1 for points, share, value in
                zip(out_of, earned, exact, strict=True))  # fmt: skip
    if roomy:
        assert sum(whole) == int(total + Fraction(1, 2))


# ---- speed -------------------------------------------------------------------------------------


def fast(
    useful: float = 32, sectors: float = 1, own: float = 100, reference: float | None = 100,
    source: Any = "modelled",
) -> CaseResult:  # fmt: skip
    def timing(nanoseconds: float) -> Timing:
        return Timing(source=source, device="x", nanoseconds=nanoseconds)

    run = ReferenceRun(verdict=Verdict.ACCEPTED, timing=timing(reference)) if reference else None
    counts = {"useful": useful, "sectors": sectors}
    return case("big", metrics=Metrics(counts=counts), timing=timing(own), reference=run)


@pytest.mark.parametrize(
    ("run", "points"),
    [
        (fast(), 10),
        (fast(own=60), 10),  # better than the reference is no more than full points
        (fast(own=114), 10),  # 1.14 is 1.1 within the tie margin
        (fast(own=117), 8),
        (fast(own=200), 8),
        (fast(own=300), 6),
        (fast(useful=28), 10),  # 0.875 is 0.9 within the tie margin
        (fast(useful=20), 7),
        (fast(useful=4), 4),
        (fast(useful=4, own=300), 0),
        (fast(reference=None), 10),  # no reference: the metric has all ten points
        (fast(reference=None, useful=20), 5),
        (fast(sectors=0, own=200), 5),  # nothing to measure: time has all ten
        (fast(source="measured", own=900), 10),  # times of another source do not count
    ],
)
def test_speed(course: Assignment, run: CaseResult, points: int) -> None:
    found = score(course, Verdict.ACCEPTED, [case(), run])
    assert by_item(found)["speed"] == points


def measured(**more: Any) -> CaseResult:
    """A case whose modelled time is that of the reference, and what hardware measured."""
    there = {
        "device": "cuda",
        "verdict": Verdict.ACCEPTED,
        "timing": Timing(
            source="measured", device="a card", nanoseconds=5.0, ratio_to_reference=2.0
        ),
        **more,
    }
    return fast().model_copy(update={"measured": Measured(**there)})


@pytest.mark.parametrize(
    ("device", "run", "points", "why"),
    [
        ("virtual", measured(), 10, "modelled time 1.00"),  # shown beside, but not counted
        ("cuda", measured(), 8, "time measured on the a card 2.00"),
        ("cuda", measured(noisy=True), 8, "noisy"),
        ("cuda", measured(untrusted=("it was too fast",)), 6, "not believed: it was too fast"),
        ("cuda", measured(timing=None), 10, "efficiency"),  # the metric has all ten points
        ("cuda", fast(), 10, "efficiency"),
        ("metal", measured(), 10, "efficiency"),  # another device's time is none
    ],
)
def test_measured_time_counts_where_the_assignment_names_the_device(
    course: Assignment, device: str, run: CaseResult, points: int, why: str
) -> None:
    assert course.speed is not None
    speed = course.speed.model_copy(update={"device": device})
    found = score(course.model_copy(update={"speed": speed}), Verdict.ACCEPTED, [case(), run])
    line = next(line for line in found.lines if line.item == "speed")
    assert line.points == points, line
    assert why in line.why


def test_an_assignment_whose_device_is_not_here_says_so(course: Assignment) -> None:
    assert course.speed is not None
    speed = course.speed.model_copy(update={"device": "cuda", "metric": ()})
    found = score(course.model_copy(update={"speed": speed}), Verdict.ACCEPTED, [case(), fast()])
    line = next(line for line in found.lines if line.item == "speed")
    assert line.why == "its speed counts on cuda only, and none measured it here"


def test_only_an_accepted_kernel_has_speed(course: Assignment) -> None:
    bad = case(verdict=Verdict.WRONG_ANSWER, mismatch=MISMATCH)
    found = score(course, Verdict.WRONG_ANSWER, [bad, fast()])
    assert by_item(found)["speed"] == 0
    assert "wrong_answer" in found.lines[-1].why


def test_a_relative_metric(course: Assignment) -> None:
    speed = Speed.model_validate(
        {"cases": ["big"], "metric": [{"name": "sectors", "formula": "sectors", "points": 10,
         "relative": True, "bands": [{"at_most": 1, "share": 1}, {"at_most": 2, "share": 0.5}]}]},
        strict=False,
    )  # fmt: skip
    relative = course.model_copy(update={"speed": speed})
    for own, points in ((100, 10), (150, 5), (300, 0)):
        run = fast(sectors=own)
        assert run.reference is not None
        base = Metrics(counts={"sectors": 100.0})
        run = run.model_copy(
            update={"reference": run.reference.model_copy(update={"metrics": base})}
        )
        assert by_item(score(relative, Verdict.ACCEPTED, [run]))["speed"] == points


# ---- notes -------------------------------------------------------------------------------------


def entry(**claims: Any) -> NoteEntry:
    made = [NoteClaim(claim=name, verdict=verdict, reason="") for name, verdict in claims.items()]
    return NoteEntry(framework=claims.pop("fw", "numpy"), verdict="right", claims=tuple(made))


@pytest.mark.parametrize(
    ("entries", "points"),
    [
        ([entry(file="right", operation="right")], 10),
        ([entry(file="unknown", operation="unknown")], 10),
        ([entry(file="right")], 6),
        ([entry(file="partly", operation="wrong")], 3),
        ([entry(file="wrong"), entry(file="right", operation="right")], 10),
        ([], 0),
    ],
)
def test_notes(course: Assignment, entries: list[NoteEntry], points: int) -> None:
    noted = course.model_copy(update={
        "rubric": PLAIN.model_copy(update={"correct": 30, "notes": 10}),
        "notes": NotesRubric(claims={"file": 6, "operation": 4}),
    })  # fmt: skip
    notes = Notes(file="notes.toml", entries=tuple(entries))
    for verdict in (Verdict.ACCEPTED, Verdict.BUILD_FAILED):
        assert by_item(score(noted, verdict, [case()], notes))["notes"] == points
    assert by_item(score(noted, Verdict.ACCEPTED, [case()], None))["notes"] == 0


def test_one_kernel_noted_twice_counts_once(course: Assignment) -> None:
    noted = course.model_copy(update={
        "rubric": PLAIN.model_copy(update={"correct": 30, "notes": 10}),
        "notes": NotesRubric(entries=2, claims={"file": 10}),
    })  # fmt: skip
    numpy = entry(file="right")
    other = numpy.model_copy(update={"framework": "mlx"})
    for entries, points in (((numpy, numpy), 5), ((numpy, other), 10)):
        notes = Notes(file="notes.toml", entries=entries)
        assert by_item(score(noted, Verdict.ACCEPTED, [case()], notes))["notes"] == points


def test_points_say_why(course: Assignment) -> None:
    found = score(course, Verdict.ACCEPTED, [case(), fast(own=200)])
    assert "2.00 times the reference" in found.lines[-1].why
    assert all(line.why for line in found.lines)


@pytest.mark.parametrize(
    ("own", "sectors", "time", "moved"),
    [
        (60, 0.5, True, True),
        (96, 0.97, False, False),  # within the tie margin: as good as the reference
        (100, 1.0, False, False),
        (94, 2.0, True, False),
    ],
)
def test_what_is_better_than_the_reference_is_said(
    course: Assignment, own: float, sectors: float, time: bool, moved: bool
) -> None:
    speed = Speed.model_validate(
        {"cases": ["big"], "time": {"points": 5, "bands": [{"at_most": 1, "share": 1}]},
         "metric": [{"name": "sectors", "formula": "sectors", "points": 5, "relative": True,
                     "bands": [{"at_most": 1, "share": 1}]}]},
        strict=False,
    )  # fmt: skip
    run = fast(own=own, sectors=sectors)
    assert run.reference is not None
    known = run.reference.model_copy(update={"metrics": Metrics(counts={"sectors": 1.0})})
    found = score(
        course.model_copy(update={"speed": speed}),
        Verdict.ACCEPTED,
        [case(), run.model_copy(update={"reference": known})],
    )
    metric, timed = found.lines[-1].why.split("; ")
    assert ("better than the reference" in timed) == time
    assert ("better than the reference" in metric) == moved
