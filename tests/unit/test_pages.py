"""The pages of docs/ that come from the code are those in the repository, and complete."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader import advice, errors, new
from grader.pattern_advice import described
from grader.report import assignment_format, pages
from grader.report import json as result_json
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


def test_every_error_has_its_message() -> None:
    """By the name of its class, or by the verdict that it becomes."""
    verdicts = {"RefusedError": "refused", "NotGradableError": "not_gradable",
                "InternalError": "grader_error"}  # fmt: skip
    named = {
        verdicts.get(name, name.removesuffix("Error").lower())
        for name, value in vars(errors).items()
        if isinstance(value, type) and value is not errors.GradeError
    }
    said = {slug for slug, entry in messages().items() if entry.kind == "error"}
    assert named == said | set(verdicts.values())
    assert said == {"usage", "assignment"}


def test_patterns_are_described_in_words() -> None:
    for pattern, said in described():
        assert not set(pattern) & set("\\()[]{}$?*"), pattern
        assert "{" not in said
        assert f"| {pattern} |" in pages.pages()["messages.md"]


def test_every_fault_has_advice() -> None:
    assert set(advice.FAULT_ADVICE) == set(VERDICT_OF_FAULT)


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


def test_every_key_of_an_assignment_says_what_it_means() -> None:
    for path, model in assignment_format.tables():
        for name, field in model.model_fields.items():
            assert field.exclude or field.description, f"{path}.{name}"


@pytest.mark.parametrize(
    "path",
    [*sorted(ROOT.glob("assignments/*/assignment.toml")), new.EXAMPLE / "assignment.toml"],
    ids=lambda path: path.parent.name,
)
def test_every_key_of_a_shipped_assignment_is_documented(path: Path) -> None:
    text = (ROOT / "docs" / "assignment-format.md").read_text(encoding="utf-8")
    sections = {
        re.sub(r"[`\[\]]", "", heading): part
        for part in text.split("\n## ")[1:]
        for heading in part.splitlines()[0].split(", ")
    }
    for place, key in keys(tomllib.loads(path.read_text(encoding="utf-8"))):
        assert f"\n| `{key}` |" in sections[place or "The file"], f"{place}: {key}"


def keys(table: dict[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """The heading a key is documented under, and the key, for every key of a file."""
    for key, value in table.items():
        yield place, key
        inside = f"{place}.{key}".lstrip(".")
        free = {"sizes": "NAME", "tolerance": "DTYPE", "checks": "FAULT"}
        for entry in value if isinstance(value, list) else [value]:
            if not isinstance(entry, dict) or inside in PLAIN:
                continue
            if inside in free:
                for inner in entry.values():
                    if isinstance(inner, dict):
                        yield from keys(inner, f"{inside}.{free[inside]}")
            else:
                yield from keys(entry, inside)


PLAIN = ("case.sizes", "case.constants", "notes.claims", "program.steps")
"""Tables whose keys are names of the assignment's own, or are listed in a cell."""
