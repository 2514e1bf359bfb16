"""SARIF 2.1.0: the findings for an editor, a run per submission."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from grader import __version__
from grader.report.findings import findings
from grader.report.messages import messages
from grader.report.words import clean
from grader.result import Diagnostic, Fault, Result

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RUNS = 20
"""More than GitHub takes in one file."""

_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def render(results: Sequence[tuple[str, Result]]) -> str:
    """One log for results with the name of each."""
    runs = [_run(name, result) for name, result in results]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=1) + "\n"


def _run(name: str, result: Result) -> dict[str, Any]:
    found: list[tuple[str, Fault | Diagnostic]] = [
        (finding.fault.kind, finding.fault) for finding in findings(result)
    ]
    for build in result.builds:
        found += [("build_failed", d) for d in build.diagnostics if d.severity != "note"]
    found = list(dict.fromkeys(found))
    known = messages()
    rules = []
    for slug in dict.fromkeys(slug for slug, _ in found):
        rule: dict[str, Any] = {"id": slug, "shortDescription": {"text": slug.replace("_", " ")}}
        if entry := known.get(slug):
            rule["fullDescription"] = {"text": entry.means}
            rule["help"] = {"text": "\n".join(entry.fixes) or entry.means}
        rules.append(rule)
    driver = {"name": "grade", "version": __version__, "rules": rules}
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"{result.assignment}/{name}"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(slug, place) for slug, place in found],
    }


def _result(slug: str, place: Fault | Diagnostic) -> dict[str, Any]:
    text = clean(place.message)
    if isinstance(place, Fault) and place.advice:
        text = f"{text} {clean(place.advice)}"
    entry: dict[str, Any] = {
        "ruleId": slug,
        "level": _LEVELS[str(place.severity)],
        "message": {"text": text},
        "partialFingerprints": {
            "grade/v1": hashlib.sha256(
                f"{slug} {place.file} {place.line} {getattr(place, 'buffer', '')}".encode()
            ).hexdigest()
        },
    }
    if place.file:
        location: dict[str, Any] = {
            "artifactLocation": {"uri": place.file, "uriBaseId": "%SRCROOT%"}
        }
        if place.line:
            location["region"] = {"startLine": place.line} | (
                {"startColumn": place.column} if place.column else {}
            )
        entry["locations"] = [{"physicalLocation": location}]
    return entry
