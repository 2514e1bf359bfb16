"""`expect:` lines: read exactly, and met only by a finding that has every key."""

from __future__ import annotations

import pytest

from grader import expectations
from grader.errors import AssignmentError
from tests.report import results

TEXT = """\
// expect: verdict=out_of_bounds
// expect: kind=out_of_bounds line=6 access=read buffer=A index=1000
# expect: kind=race severity=warning message="without __syncwarp"
__global__ void f() {}
"""


def test_reads_verdict_and_findings() -> None:
    verdict, found = expectations.read(TEXT, "a.cu")
    assert verdict == "out_of_bounds"
    assert [one.keys["kind"] for one in found] == ["out_of_bounds", "race"]
    assert expectations.missing(found, results.out_of_bounds()) == ()


@pytest.mark.parametrize(
    "line", ["kind=out_of_bounds line=7", "kind=misaligned", "kind=race", "buffer=B"]
)
def test_a_finding_that_differs_in_one_key_is_missing(line: str) -> None:
    _, found = expectations.read(f"// expect: {line}", "a.cu")
    assert expectations.missing(found, results.out_of_bounds()) == found


def test_a_pattern_is_found_in_the_mismatch() -> None:
    _, found = expectations.read('// expect: pattern="only_first"', "a.cu")
    assert expectations.missing(found, results.wrong_answer()) == ()
    assert expectations.missing(found, results.out_of_bounds()) == found


def test_a_compilers_message_is_found_by_line() -> None:
    _, found = expectations.read('// expect: line=6 message="undefined"', "a.cu")
    assert expectations.missing(found, results.build_failed()) == ()


@pytest.mark.parametrize(
    ("line", "met"),
    [
        ("kind=mismatch buffer=C", True),
        ("kind=mismatch buffer=C pattern=only_first", True),
        ("kind=mismatch buffer=A", False),
        ("kind=mismatch pattern=tail", False),
        ("kind=unwritten buffer=C", False),
        ("kind=diagnostic", False),
    ],
)
def test_a_wrong_number_is_found_by_its_buffer(line: str, met: bool) -> None:
    _, found = expectations.read(f"// expect: {line}", "a.cu")
    assert (expectations.missing(found, results.wrong_answer()) == ()) is met


@pytest.mark.parametrize(
    ("line", "met"),
    [
        ("kind=diagnostic line=6", True),
        ("kind=diagnostic message=undefined", True),
        ("kind=diagnostic line=7", False),
        ("kind=mismatch", False),
    ],
)
def test_a_diagnostic_is_found_by_its_line(line: str, met: bool) -> None:
    _, found = expectations.read(f"// expect: {line}", "a.cu")
    assert (expectations.missing(found, results.build_failed()) == ()) is met


@pytest.mark.parametrize(
    ("line", "met"),
    [
        ("points=95", True),
        ("points=94", False),
        ('points="<= 95" speed=10', True),
        ('points="< 95"', False),
        ('points=">= 95" correct="> 0"', True),
        ('speed=10 correct="<= 3"', False),
        ('points=">95"', False),
    ],
)
def test_points_are_those_of_the_score(line: str, met: bool) -> None:
    _, found = expectations.read(f"// expect: {line}", "a.cu")
    assert (expectations.missing(found, results.accepted()) == ()) is met


def test_a_missing_limit_says_what_was_given() -> None:
    (one,) = expectations.read('// expect: points=">= 96" speed="< 3"', "a.cu")[1]
    assert str(one) == 'points=">= 96" speed="< 3"'
    assert expectations.found_instead(one, results.accepted()) == "points=95 speed=10"


def test_what_is_not_scored_keeps_no_limit() -> None:
    _, found = expectations.read('// expect: points="<= 100"', "a.cu")
    assert expectations.missing(found, results.grader_error()) == found


@pytest.mark.parametrize("line", ["nonsense", "colour=red", "points=many", "speed=3 line=4"])
def test_a_line_that_says_nothing_is_an_error(line: str) -> None:
    with pytest.raises(AssignmentError, match=r"a\.cu:1"):
        expectations.read(f"// expect: {line}", "a.cu")
