"""Results for other systems, read back by a reader or a schema of each."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import junitparser
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from grader.report import classroom, gradescope, junit, points, sarif, workflow
from grader.result import Diagnostic, Result, Severity, Verdict
from tests.report import results

HERE = Path(__file__).parent
Maker = Callable[[], Result]
every = pytest.mark.parametrize("make", results.ALL)


@every
def test_junit_is_read_by_junitparser(make: Maker, tmp_path: Path) -> None:
    result = make()
    file = tmp_path / "junit.xml"
    file.write_text(junit.render([("ann", result)]))
    (suite,) = junitparser.JUnitXml.fromfile(str(file))
    cases = list(suite)
    kinds = {type(inner) for case in cases for inner in case.result}
    assert suite.tests == len(cases) > 0
    if result.verdict is Verdict.ACCEPTED:
        assert not kinds and suite.failures == suite.errors == 0
    elif result.verdict is Verdict.GRADER_ERROR:
        assert kinds == {junitparser.Error}
    else:
        assert kinds == {junitparser.Failure} and suite.failures > 0
    said = {p.name: p.value for p in suite.properties()}
    expected = "none" if result.score.points is None else f"{result.score.points}/100"
    assert said["score"] == expected


def test_junit_has_no_character_that_xml_forbids() -> None:
    text = junit.legal("a\x00\x1b\ufffe\ud800b<&>")
    assert text == "a\ufffd\ufffd\ufffd\ufffdb<&>"


@every
def test_sarif_fits_the_schema_and_points_at_the_line(make: Maker) -> None:
    result = make()
    log = json.loads(sarif.render([("ann", result)]))
    Draft202012Validator(json.loads((HERE / "sarif_schema.json").read_text())).validate(log)
    found = log["runs"][0]["results"]
    rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert {entry["ruleId"] for entry in found} == rules
    if make is results.out_of_bounds:
        region = found[0]["locations"][0]["physicalLocation"]["region"]
        assert region == {"startLine": 6, "startColumn": 12}


@every
def test_classroom50_fits_its_schema(make: Maker) -> None:
    text = classroom.classroom50(make(), {"CLASSROOM": "ece408", "OWNER": "alice"}, points=None,
                                 when="2026-11-30T14:32:01Z")  # fmt: skip
    data = json.loads(text)
    Draft202012Validator(json.loads((HERE / "classroom50_schema.json").read_text())).validate(data)
    assert sum(test["score"] for test in data["tests"]) == data["score"] <= data["max-score"]
    assert not any(isinstance(test["score"], bool) for test in data["tests"])


@given(st.integers(0, 200), st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_parts_add_up_and_none_has_more_than_its_weight(total: int, weights: list[int]) -> None:
    total = min(total, sum(weights))
    parts = points.shares(total, weights)
    assert sum(parts) == total
    assert all(0 <= part <= weight for part, weight in zip(parts, weights, strict=True))


@given(st.integers(0, 100))
def test_points_of_the_gradebook_are_spread_over_the_items(total: int) -> None:
    parts = points.parts(results.out_of_bounds(), total)
    assert sum(part.points for part in parts) == total
    assert all(0 <= part.points <= part.out_of for part in parts)


@every
def test_gradescope(make: Maker) -> None:
    result = make()
    data = json.loads(gradescope.render(result))
    assert data["score"] == (result.score.points or 0)
    scored = [test for test in data["tests"] if "score" in test]
    assert all(test["score"] <= test["max_score"] for test in scored)
    assert all(test["status"] in ("passed", "failed") for test in data["tests"])
    assert not any(test.get("visibility") == "hidden" for test in data["tests"])


@every
def test_legacy_classroom_always_has_tests_and_a_maximum(make: Maker) -> None:
    data = json.loads(base64.b64decode(classroom.encoded(classroom.legacy(make()))))
    assert data["tests"] and data["max_score"] == 100
    assert {test["status"] for test in data["tests"]} | {data["status"]} <= {
        "pass", "fail", "error",
    }  # fmt: skip


def test_legacy_classroom_stays_below_the_limit() -> None:
    data = classroom.legacy(results.accepted())
    data["tests"] = [data["tests"][0] | {"message": "x" * 500, "name": "n" * 50}] * 250
    text = classroom.encoded(data)
    assert len(text) < classroom.MOST_BASE64
    assert len(json.loads(base64.b64decode(text))["tests"]) == 250
    data["tests"] *= 10
    assert len(classroom.encoded(data)) < classroom.MOST_BASE64


def test_annotations_say_file_line_and_title() -> None:
    (line, *_) = workflow.lines(results.out_of_bounds(), "assignment3")
    assert line.startswith(
        "::error file=assignment3/vec_add.cu,line=6,col=12,title=out of bounds::read of A[1000]"
    )


def test_annotations_are_ten_with_errors_first_and_nothing_gets_out_of_one() -> None:
    many = tuple(
        Diagnostic(file="a.cu", line=n, severity="warning" if n % 2 else "error",
                   message=f"50% done\n::error::forged {n}")
        for n in range(1, 40)
    )  # fmt: skip
    result = results.build_failed()
    build = result.builds[0].model_copy(update={"diagnostics": many})
    lines = workflow.lines(result.model_copy(update={"builds": (build,)}))
    assert len(lines) == workflow.MOST
    assert all(line.startswith("::error ") for line in lines)
    assert all("\n" not in line and "50%25 done%0A" in line for line in lines)


def test_a_name_of_a_file_cannot_end_a_property() -> None:
    line = workflow.command("error", "m", file="a,line=1::b.cu", line=None)
    assert line == "::error file=a%2Cline=1%3A%3Ab.cu::m"


def test_what_has_no_line_is_said_all_the_same() -> None:
    (line,) = workflow.lines(results.refused())
    assert line.startswith("::error title=refused::expected a kernel file")
    (line,) = workflow.lines(results.grader_error())
    assert line.startswith("::warning title=grader error::The grader failed")
    notes = [f for c in results.accepted().cases for f in c.faults if f.severity is Severity.NOTE]
    assert len(workflow.lines(results.accepted())) <= 1 + len(notes)


def test_sarif_is_read_by_sarif_tools(tmp_path: Path) -> None:
    loader = pytest.importorskip("sarif.loader", reason="sarif-tools reads SARIF")
    file = tmp_path / "class.sarif"
    file.write_text(sarif.render([("ann", results.out_of_bounds()), ("bob", results.accepted())]))
    read = loader.load_sarif_file(str(file))
    records = read.get_records()
    assert {record["Severity"] for record in records} <= {"error", "warning", "note"}
    assert any(r["Location"].endswith("vec_add.cu") and r["Line"] == 6 for r in records)
