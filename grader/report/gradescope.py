"""Gradescope's `results.json`."""

from __future__ import annotations

import json
from typing import Any

from grader.report import markdown
from grader.report.points import parts
from grader.report.words import clean, what_happened
from grader.result import Result, Verdict

MOST_TEXT = 100_000


def render(result: Result, points: int | None = None) -> str:
    """The points by rubric item, and every case as a test without points."""
    tests: list[dict[str, Any]] = [
        {
            "name": part.name,
            "number": str(number),
            "score": part.points,
            "max_score": part.out_of,
            "status": "passed" if part.points == part.out_of else "failed",
            "output": clean(part.why),
            "output_format": "text",
        }
        for number, part in enumerate(parts(result, points), 1)
    ]
    for number, case in enumerate(result.cases, 1):
        tests.append(
            {
                "name": f"case: {case.name}",
                "number": f"{len(result.score.lines) + 1}.{number}",
                "status": "passed" if case.verdict is Verdict.ACCEPTED else "failed",
                "output": clean(what_happened(case) or case.verdict.value),
                "output_format": "text",
            }
        )
    data: dict[str, Any] = {
        "output": markdown.render(result)[:MOST_TEXT],
        "output_format": "md",
        "execution_time": round(result.seconds),
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"verdict": result.verdict.value,
                       "submission_sha256": result.submission_sha256},
    }  # fmt: skip
    if result.score.points is None and points is None:
        # Gradescope keeps a score of 0 apart from none only in words.
        data["output"] = f"**{clean(result.reason)}** {clean(result.next_step)}"
        data["output_format"] = "md"
        data["score"] = 0
    else:
        data["score"] = sum(part.points for part in parts(result, points))
    return json.dumps(data, indent=1) + "\n"
