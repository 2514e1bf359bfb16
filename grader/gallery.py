"""Writes the report of every known submission of every assignment: `make gallery`."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path

from grader import assignment as assignments
from grader import report, verify, warm
from grader.report import words

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Gallery of reports</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root {{ color-scheme: light dark }} body {{ font: 16px/1.6 system-ui, sans-serif;
margin: 1rem auto; max-width: 60rem; padding: 0 1rem }} td {{ padding-right: 1.5rem }}</style>
</head><body><main><h1>Gallery of reports</h1>
<table><thead><tr><th>assignment</th><th>submission</th><th>verdict</th><th>points</th></tr></thead>
<tbody>
{rows}
</tbody></table></main></body></html>
"""


def write(folder: Path, names: list[str]) -> None:
    """Grade the known submissions of the assignments named (by default all); write reports and an
    index into `folder`."""
    found = [
        subject
        for name in names or assignments.available()
        for subject in verify.subjects(assignments.load(name))
    ]
    with warm.children(), ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(lambda subject: _one(folder, subject), found))
    (folder / "index.html").write_text(PAGE.format(rows="\n".join(rows)), encoding="utf-8")


def _one(folder: Path, subject: verify.Subject) -> str:
    result = verify.graded(subject)
    place = Path(subject.assignment.name, subject.name.replace(" ", "-"))
    report.write(result, folder / place)
    cells = (
        escape(subject.assignment.name),
        f'<a href="{escape(str(place))}/report.html">{escape(subject.name)}</a>',
        escape(words.TITLES[result.verdict]),
        escape(words.points(result.score)),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2:])
