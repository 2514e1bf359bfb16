"""What GitHub's classrooms read: the old reporter's `result=<base64>` and Classroom 50's file."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from grader.report.findings import leading_fault
from grader.report.points import parts
from grader.report.words import clean
from grader.result import Result, Verdict

MOST_BASE64 = 90_000
"""It travels in one environment variable, of which Linux allows 128 KiB."""


def status(result: Result) -> str:
    """`pass`, `fail`, or `error` where it is not the student's doing."""
    if result.verdict in (Verdict.GRADER_ERROR, Verdict.NOT_GRADABLE):
        return "error"
    return "pass" if result.verdict is Verdict.ACCEPTED else "fail"


def legacy(result: Result) -> dict[str, Any]:
    """The JSON of the autograding actions, version 1; `tests` and `max_score` are always there."""
    leading = leading_fault(result)
    place: dict[str, Any] = {}
    if leading is not None and leading.fault.file:
        place = {"filename": leading.fault.file, "line_no": leading.fault.line or 0}
    tests = [
        {
            "name": part.name,
            "status": "pass" if part.points == part.out_of else _lost(result),
            "score": part.points,
            "max_score": part.out_of,
            "message": "" if part.points == part.out_of else clean(part.why)[:500],
            "test_code": f"grade submit {result.assignment}",
            "duration": round(result.seconds * 1000),
        }
        | (place if part.points < part.out_of else {})
        for part in parts(result)
    ]
    return {
        "version": 1,
        "status": status(result),
        "max_score": result.score.out_of,
        "tests": tests,
    }


def _lost(result: Result) -> str:
    return "error" if status(result) == "error" else "fail"


def encoded(data: dict[str, Any]) -> str:
    """The JSON as one line of base64 below the limit; messages are shortened until it fits."""
    for limit in (500, 100, 20, 0):
        tests = [t | {"message": t["message"][:limit], "name": t["name"][:100]}
                 for t in data["tests"]]  # fmt: skip
        compact = json.dumps(data | {"tests": tests}, separators=(",", ":"))
        text = base64.b64encode(compact.encode()).decode()
        if len(text) < MOST_BASE64:
            return text
    return base64.b64encode(
        json.dumps(data | {"tests": data["tests"][:100]}, separators=(",", ":")).encode()
    ).decode()


def classroom50(
    result: Result,
    environment: Mapping[str, str],
    *,
    points: int | None = None,
    when: str | None = None,
) -> str:
    """`result.json` of Classroom 50; who and where come from its environment."""
    found = parts(result, points)
    get = environment.get
    data = {
        "schema": "classroom50/result/v1",
        "classroom": get("CLASSROOM", ""),
        "assignment": get("ASSIGNMENT", result.assignment),
        "assignment_type": get("ASSIGNMENT_TYPE", "individual"),
        "owner": get("OWNER", get("USERNAME", "")),
        "submission": get("SUBMISSION_TAG", ""),
        "commit": get("COMMIT_URL", ""),
        "release": get("RELEASE_URL", ""),
        "review": get("REVIEW_URL", ""),
        "datetime": when or get("GRADE_SUBMITTED") or zulu(result.created),
        "graded_at": zulu(result.created),
        "score": sum(part.points for part in found),
        "max-score": sum(part.out_of for part in found),
        "tests": [
            {
                "test-name": part.name,
                "passed": part.points == part.out_of,
                "score": part.points,
                "max-score": part.out_of,
                "message": clean(part.why),
            }
            for part in found
        ],
    }
    return json.dumps(data, indent=1) + "\n"


def zulu(moment: str) -> str:
    """A UTC time as `2026-11-30T14:32:01Z`."""
    return moment.replace("+00:00", "Z")
