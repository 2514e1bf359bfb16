"""The pages of docs/ that come from the code are those in the repository, and complete."""

from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import pytest

from grader import advice
from grader.report import json as result_json
from grader.report import pages
from grader.report.messages import messages
from grader.result import Result, Verdict
from grader.verdict import VERDICT_OF_FAULT
from tests.conftest import ROOT
from tests.report import results


@pytest.mark.parametrize("name", pages.pages())
def test_the_page_in_the_repository_is_the_one_the_code_makes(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert text == pages.pages()[name], "run `make docs`"


def test_every_verdict_and_every_kind_of_fault_has_its_message() -> None:
    verdicts = {slug for slug, entry in messages().items() if entry.kind in ("verdict", "both")}
    kinds = {slug for slug, entry in messages().items() if entry.kind in ("finding", "both")}
    assert verdicts == {verdict.value for verdict in Verdict}
    assert kinds == set(VERDICT_OF_FAULT)


def test_every_fault_of_a_kernel_has_advice() -> None:
    of_programs = {"bad_copy", "use_after_free", "leak", "host_pointer", "unsynchronised_read"}
    assert set(advice.FAULT_ADVICE) == set(VERDICT_OF_FAULT) - of_programs


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_results_follow_the_schema(make: Callable[[], Result]) -> None:
    text = result_json.dumps(make())
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    assert result_json.loads(text) == make()


def test_the_schema_refuses_what_is_no_result() -> None:
    schema = result_json.schema()
    data = json.loads(result_json.dumps(results.accepted()))
    for change in ({"verdict": "fine"}, {"surprise": 1}, {"cases": [{"name": "x"}]}):
        assert list(jsonschema.Draft202012Validator(schema).iter_errors({**data, **change}))


def test_the_issue_s_keys_are_there() -> None:
    data = json.loads(result_json.dumps(results.out_of_bounds()))
    top = {"schema", "assignment", "verdict", "score", "builds", "cases", "notes", "reason"}
    assert top <= set(data)
    case = {"name", "device", "verdict", "faults", "mismatch", "metrics", "timing"}
    assert case <= set(data["cases"][1])
    fault = {"kind", "severity", "access", "buffer", "index", "extent", "file", "line", "block",
             "thread", "count", "message"}  # fmt: skip
    assert fault <= set(data["cases"][1]["faults"][0])
