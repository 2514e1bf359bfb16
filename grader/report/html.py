"""`report.html`: one self-contained file with the verdict, the source and what was found in it."""

from __future__ import annotations

import functools
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from grader import cache
from grader.report import code, measured, pictures, words
from grader.report import notes as noted
from grader.report.findings import (
    Excerpt,
    excerpt,
    findings,
    leading_case,
    leading_fault,
    source,
    telling_line,
    waste,
    widest,
    wrong_beside,
)
from grader.report.messages import about
from grader.result import Diagnostic, Fault, LineMetrics, Result, Verdict

MAPS_SHOWN = 3
"""One picture is worth a look; the maps of twelve cases are not."""


def render(result: Result, *, remark: str = "") -> str:
    """The report as one HTML file that needs no network and no JavaScript.

    `remark` says above everything whose copy this is.
    """
    diagnostics = tuple(dict.fromkeys(d for build in result.builds for d in build.diagnostics))
    found = findings(result)
    leading, case = leading_fault(result), leading_case(result)
    place: Fault | Diagnostic | LineMetrics | None = next(iter(diagnostics), None)
    if leading is not None and leading.fault.line is not None:
        place = leading.fault
    elif case is not None:
        place = telling_line(case)
    wasted = waste(result.cases) if words.slow(result.score) else None
    if wasted is not None and result.verdict is Verdict.ACCEPTED:
        place = wasted.line
    return _template().render(
        result=result,
        remark=remark,
        words=words,
        noted=noted,
        measured=measured,
        Verdict=Verdict,
        title=words.TITLES[result.verdict],
        tone=_tone(result.verdict),
        leading=leading,
        case=case,
        wasted=wasted,
        about=about(result),
        findings=found,
        errors=[d for d in diagnostics if d.severity == "error"],
        cut=_excerpt(result, place) if place is not None else None,
        other=_other(result, leading.fault) if leading is not None else None,
        sources=[
            (file, code.rows(file, found, diagnostics, _lines(result)))
            for file in result.files
            if file.text is not None and file.language
        ],
        most_rows=code.MOST_ROWS,
        heat_case=widest(result.cases),
        wrong_beside=wrong_beside(result),
        full_bars=code.legend(_lines(result)),
        maps=pictures.maps(result.cases, MAPS_SHOWN),
        access=pictures.access(leading.fault if leading else None),
        effort=pictures.effort(result.cases),
        roofline=pictures.roofline(widest(result.cases)),
        logs=[build for build in result.builds if build.log.strip()],
    )


@functools.cache
def _template() -> Template:
    return environment().get_template("report.html.j2")


@functools.cache
def environment() -> Environment:
    """The templates of this package; everything that is put into one is escaped."""
    made = Environment(
        loader=PackageLoader("grader.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=FileSystemBytecodeCache(str(_compiled())),
    )
    made.filters["clean"] = words.clean
    made.filters["safe_code"] = code.safe
    made.globals["style"] = Markup(
        made.get_template("report.css").render()  # our own file, nothing of a student in it
    )
    return made


def _compiled() -> Path:
    """Where Jinja keeps compiled templates: compiling them anew takes longer than a report."""
    folder = cache.root() / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tone(verdict: Verdict) -> str:
    if verdict is Verdict.ACCEPTED:
        return "good"
    return "neutral" if verdict in (Verdict.GRADER_ERROR, Verdict.NOT_GRADABLE) else "bad"


def _excerpt(result: Result, place: Fault | Diagnostic | LineMetrics) -> Excerpt | None:
    text = source(result, place.file)
    if text is None or text.text is None or place.line is None:
        return None
    return excerpt(text.text, place.line, getattr(place, "column", None))


def _other(result: Result, fault: Fault) -> Excerpt | None:
    """The lines around the other half of a race, where that stands on another line."""
    other = fault.other
    text = source(result, other.file or fault.file) if other is not None else None
    if other is None or other.line in (None, fault.line) or text is None or text.text is None:
        return None
    return excerpt(text.text, other.line or 0, None, around=1)


def _lines(result: Result) -> tuple[LineMetrics, ...]:
    case = widest(result.cases)
    return case.metrics.lines if case is not None and case.metrics is not None else ()
