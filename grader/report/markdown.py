"""`report.md`: the report for a CI summary or a pull request, under its size limit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.report import measured, words
from grader.report import notes as noted
from grader.report.findings import (
    Finding,
    excerpt,
    findings,
    leading_case,
    leading_fault,
    source,
    waste,
    wrong_beside,
)
from grader.report.messages import about
from grader.result import NoteClaim, Result, Severity, Verdict

LIMIT_BYTES = 60_000
"""GitHub cuts a comment at 65,536 characters and a step summary at 1 MiB."""

MOST_FOUND = 100

MARKS = {True: "✅", False: "❌"}


def render(result: Result) -> str:
    """The report as GitHub-flavoured Markdown, at most LIMIT_BYTES long.

    What does not fit is left out from the end, and a line says so.
    """
    parts = [
        f"## {MARKS[result.verdict is Verdict.ACCEPTED]} {escape(words.subject(result))}: "
        f"{words.TITLES[result.verdict]}, {words.points(result.score)}",
        _cause(result),
        f"**Next:** {escape(result.next_step)}" if result.next_step else "",
        _about(result),
        _score(result),
        _cases(result),
        _measured(result),
        _more(result),
        _notes(result),
        *(escape(mention) for mention in result.mentions),
        _logs(result),
        _environment(result),
    ]
    text = ""
    for part in filter(None, parts):
        if len((text + part).encode()) > LIMIT_BYTES:
            text += "The rest did not fit here; `report.html` has it.\n"
            break
        text += part + "\n\n"
    return text.rstrip("\n") + "\n"


def escape(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    text = (
        words.cut(words.clean(text)).replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;")
    )
    return re.sub(r"([\\`*_\[\]|#~>])", r"\\\1", text)


def fence(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in the text."""
    text = words.clean(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def folded(summary: str, body: str) -> str:
    """Details that open on a click."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _cause(result: Result) -> str:
    finding, case = leading_fault(result), leading_case(result)
    if finding is not None:
        return _finding(result, finding)
    if result.verdict is Verdict.BUILD_FAILED:
        errors = list(
            dict.fromkeys(
                d for build in result.builds for d in build.diagnostics if d.severity == "error"
            )
        )
        if errors:
            first = errors[0]
            text = f"{escape(words.place(first.file, first.line))}: {escape(first.message)}"
            return "\n\n".join(filter(None, (text, _excerpt(result, first.file, first.line, None))))
    if case is not None and case.mismatch and result.verdict is Verdict.WRONG_ANSWER:
        return f"Case {escape(case.name)}: {escape(case.mismatch.message)}"
    if result.verdict is Verdict.ACCEPTED and words.slow(result.score):
        wasted = waste(result.cases)
        if wasted is not None:
            line = wasted.line
            text = f"{escape(words.place(line.file, line.line))}: {escape(wasted.words)}"
            cut = _excerpt(result, line.file, line.line, None)
            return "\n\n".join(filter(None, (escape(result.reason), text, cut)))
    return escape(result.reason)


def _finding(result: Result, finding: Finding) -> str:
    text = escape(words.fault_text(finding.fault))
    fault, other = finding.fault, finding.fault.other
    parts = [text, _excerpt(result, fault.file, fault.line, fault.column)]
    if other is not None and other.line is not None and other.line != fault.line:
        parts.append(f"The other access, {escape(words.other(other, result.language))}:")
        parts.append(_excerpt(result, other.file or fault.file, other.line, None, around=1))
    return "\n\n".join(filter(None, parts))


def _excerpt(
    result: Result, file: str | None, line: int | None, column: int | None, around: int = 2
) -> str:
    text = source(result, file)
    cut = excerpt(text.text, line, column, around) if text and text.text and line else None
    if cut is None:
        return ""
    rows = []
    for number, row in cut.lines:
        rows.append(f"{'>' if number == cut.marked else ' '} {number:>4} | {row}")
        if number == cut.marked and cut.caret is not None:
            rows.append(f"       | {' ' * cut.caret}^")
    return fence("\n".join(rows))


def _about(result: Result) -> str:
    entry = about(result)
    if entry is None:
        return ""
    rows = [escape(entry.means), ""]
    rows += [f"- {escape(text)}" for text in entry.causes]
    rows += ["", "What to do:", "", *(f"- {escape(text)}" for text in entry.fixes)]
    return folded(f"What {entry.slug} means, and what usually causes it", "\n".join(rows))


def _score(result: Result) -> str:
    if not result.score.lines:
        return ""
    rows = ["| item | points | why |", "|---|---:|---|"]
    for line in result.score.lines:
        rows.append(f"| {line.item} | {line.points}/{line.out_of} | {escape(line.why)} |")
    return "\n".join(rows)


def _cases(result: Result) -> str:
    if not result.cases:
        return ""
    rows = [
        "| case | sizes | device | verdict | time | first thing wrong |",
        "|---|---|---|---|---|---|",
    ]
    for case in result.cases:
        wrong = "" if case.verdict is Verdict.ACCEPTED else words.what_happened(case)
        rows.append(
            f"| {escape(case.name)} | {escape(words.sizes(case))} | {case.device} "
            f"| {case.verdict.value} | {words.timing(case.timing)} | {escape(wrong)} |"
        )
    accepted = sum(case.verdict is Verdict.ACCEPTED for case in result.cases)
    return folded(f"{accepted} of {len(result.cases)} cases accepted", "\n".join(rows))


def _measured(result: Result) -> str:
    parts = []
    if result.hardware is not None:
        facts = ", ".join(measured.facts(result.hardware))
        said = " ".join(filter(None, (f"{facts}." if facts else "", measured.introduction(result))))
        parts += [f"**{escape(measured.heading(result))}**", escape(said)]
    parts += [_table(found) for found in (measured.rows(result), measured.baselines(result))]
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Rows under the first one as their heading; empty where there are none."""
    if not rows:
        return ""
    lines = [f"| {' | '.join(escape(cell) for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def _more(result: Result) -> str:
    leading = leading_fault(result)
    rest = [f for f in findings(result) if leading is None or f.fault is not leading.fault]
    wrong = wrong_beside(result)
    if not rest:
        return f"Wrong numbers as well: {escape(wrong)}" if wrong else ""
    rows = [f"- wrong numbers: {escape(wrong)}"] if wrong else []
    rows += [
        f"- {finding.fault.severity.value}: {escape(words.fault_text(finding.fault))}"
        for finding in rest[:MOST_FOUND]
    ]
    if len(rest) > MOST_FOUND:
        rows.append(f"- and {len(rest) - MOST_FOUND:,} more in report.html")
    errors = sum(finding.fault.severity is Severity.ERROR for finding in rest)
    return folded(f"{len(rest)} more findings, {errors} of them errors", "\n".join(rows))


def _notes(result: Result) -> str:
    if result.notes is None:
        return ""
    rows = [
        f"- {escape(words.place(p.file, p.line))}: {escape(p.message)}"
        for p in result.notes.problems
    ]
    for entry in result.notes.entries:
        rows.append(f"- {escape(entry.framework)}: {entry.verdict}")
        rows += [
            f"  - {escape(claim.claim)}: {claim.verdict}{_worth(claim)}. {escape(claim.reason)}"
            for claim in entry.claims
        ]
    rows += [f"- not compared: {escape(reason)}" for reason in result.notes.not_compiled]
    table = noted.rows(result.notes)
    compared = [f"| {' | '.join(map(escape, row))} |" for row in table]
    if table:
        rows += ["", compared[0], f"|{' --- |' * len(table[0])}", *compared[1:]]
    return "### Notes\n\n" + "\n".join(rows) if rows else ""


def _worth(claim: NoteClaim) -> str:
    worth = noted.points(claim)
    return f", {worth}" if worth else ""


def _logs(result: Result) -> str:
    logs = [build.log for build in result.builds if build.log.strip()]
    return folded("Compiler log", fence("\n".join(logs))) if logs else ""


def _environment(result: Result) -> str:
    rows = [f"- {escape(name)} {escape(version)}" for name, version in result.versions.items()]
    again = words.clean(words.reproduce(result)).replace("`", "'").replace("\n", " ")
    rows.append(f"- again: `{again}`")
    return folded("Environment", "\n".join(rows))
