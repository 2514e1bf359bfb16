"""Workflow commands of GitHub Actions: the findings beside the lines they are about."""

from __future__ import annotations

from grader.report.findings import findings
from grader.report.words import clean
from grader.result import Result, Severity

MOST = 10
"""GitHub drops what a step says beyond ten."""


def escaped(text: str) -> str:
    """The data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """A property of a workflow command."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


def command(kind: str, message: str, **properties: object) -> str:
    """One workflow command."""
    said = ",".join(f"{k}={escaped_property(clean(str(v)))}" for k, v in properties.items()
                    if v not in (None, ""))  # fmt: skip
    return f"::{kind}{' ' if said else ''}{said}::{escaped(clean(message))}"


def lines(result: Result, folder: str = "") -> tuple[str, ...]:
    """At most ten, the most useful first: errors by the verdict table, then warnings.

    `folder` is where the submission's files lie, relative to the root of the repository.
    """
    said: list[str] = []
    for build in result.builds:
        for message in build.diagnostics:
            if message.severity != "note":
                where = _path(folder, message.file)
                said.append(
                    command(
                        message.severity,
                        message.message,
                        file=where,
                        line=message.line,
                        col=message.column,
                        title=build.compiler,
                    )
                )
    for finding in findings(result):
        fault = finding.fault
        kind = {Severity.ERROR: "error", Severity.WARNING: "warning"}.get(fault.severity)
        if kind and fault.file:
            text = f"{fault.message} {fault.advice}" if fault.advice else fault.message
            said.append(command(kind, text, file=_path(folder, fault.file), line=fault.line,
                                 col=fault.column,
                                 title=fault.kind.replace("_", " ")))  # fmt: skip
    said = list(dict.fromkeys(said))
    said.sort(key=lambda line: not line.startswith("::error"))
    if not said and result.verdict.exit_code:
        text = f"{result.reason}. {result.next_step}" if result.next_step else result.reason
        said.append(command("error" if result.verdict.exit_code == 1 else "warning", text,
                             title=result.verdict.value.replace("_", " ")))  # fmt: skip
    return tuple(said[:MOST])


def _path(folder: str, file: str) -> str:
    return f"{folder}/{file}" if folder not in ("", ".") else file
