"""The student's source as rows: highlighted text, the findings on each line and its counts."""

from __future__ import annotations

import re

from markupsafe import Markup, escape
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, String, _TokenType

from grader.report import words
from grader.report.findings import Finding, same_file
from grader.result import Diagnostic, LineMetrics, Record, SourceFile

MOST_ON_A_LINE = 8
"""Findings of one line that stand beneath it; errors come first."""

MOST_ROWS = 5000
"""Lines that are shown in any case; of those behind them, the ones where something was found."""

LEXERS = {"cuda-c": "cuda", "metal": "cpp", "triton": "python"}

CLASSES = (
    (Comment.Preproc, "pre"),
    (Comment.PreprocFile, "pre"),
    (Comment, "com"),
    (Keyword.Type, "typ"),
    (Keyword, "kw"),
    (String, "str"),
    (Number, "num"),
    (Literal, "str"),
    (Name.Function, "fn"),
    (Name.Decorator, "pre"),
)
"""The few token classes that the style sheet colours; the first match counts."""


class Heat(Record):
    """One count of a line beside what would do, as shares of the most that any line has."""

    title: str
    short: str
    share: float
    ideal_share: float
    text: str


class Row(Record):
    """One source line as the HTML report shows it; `markup` is safe HTML, `more` the number of
    findings that are not shown."""

    number: int
    markup: str
    findings: tuple[Finding, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    heat: tuple[Heat, ...] = ()
    more: int = 0

    @property
    def worst(self) -> str:
        """The severity the marker in the margin shows."""
        severities = [finding.fault.severity.value for finding in self.findings]
        severities += [diagnostic.severity for diagnostic in self.diagnostics]
        return next((s for s in ("error", "warning", "note") if s in severities), "")


def rows(
    file: SourceFile,
    findings: tuple[Finding, ...],
    diagnostics: tuple[Diagnostic, ...],
    lines: tuple[LineMetrics, ...],
) -> tuple[Row, ...]:
    """The lines of a source file with everything that was found out about each."""
    counts = {m.line: m.counts for m in lines if m.file is None or same_file(m.file, file.name)}
    heat = _heat(counts)
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        line = finding.fault.line
        if line is not None and same_file(finding.fault.file or "", file.name):
            found.setdefault(line, []).append(finding)
    told: dict[int, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.line is not None and same_file(diagnostic.file, file.name):
            told.setdefault(diagnostic.line, []).append(diagnostic)
    return tuple(
        Row(
            number=number,
            markup=markup,
            findings=tuple(found.get(number, [])[:MOST_ON_A_LINE]),
            more=max(0, len(found.get(number, ())) - MOST_ON_A_LINE),
            diagnostics=tuple(told.get(number, ())),
            heat=heat.get(number, ()),
        )
        for number, markup in enumerate(highlight(file.text or "", file.language), start=1)
        if number <= MOST_ROWS or number in found or number in told
    )


def highlight(text: str, language: str | None) -> list[str]:
    """One piece of safe HTML per source line, the first ones in colours; no tag crosses a line."""
    *first, rest = text.split("\n", MOST_ROWS)
    if len(first) < MOST_ROWS:
        return _coloured(text, language)
    head = _coloured("".join(f"{line}\n" for line in first), language)
    return [*head, *map(_plain, rest.removesuffix("\n").split("\n") if rest else ())]


def _coloured(text: str, language: str | None) -> list[str]:
    name = LEXERS.get(language or "", "text") if _is_quick(text) else "text"
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    lines = [""]
    for kind, value in lexer.get_tokens(text):
        name = _class(kind)
        for position, piece in enumerate(value.split("\n")):
            if position:
                lines.append("")
            if piece:
                safe = _plain(piece)
                lines[-1] += f'<span class="{name}">{safe}</span>' if name else safe
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def _plain(text: str) -> str:
    return str(escape(words.clean(text)))


_BLANKS = re.compile(r"\s{16,}")


def _is_quick(text: str) -> bool:
    """Whether Pygments needs a second at most: a megabyte of empty lines takes it hours.

    Its expressions for C and Python try again from each blank of a run, each comment of a line and
    each raw string. The bounds are what took about half a second of Pygments 2.21.
    """
    blanks = sum(len(run[0]) ** 2 for run in _BLANKS.finditer(text))
    lines = sum(len(line) ** 2 for line in text.splitlines())
    return blanks < 4_000_000 and lines < 150_000_000 and text.count('R"') < 2000


def _class(kind: _TokenType) -> str:
    return next((name for parent, name in CLASSES if _within(kind, parent)), "")


def _within(kind: _TokenType, parent: _TokenType) -> bool:
    """Whether a token type is `parent` or below it, as `kind in parent` of Pygments says."""
    return kind[: len(parent)] == parent


HEATS = (
    ("memory traffic", "mem", "global_sectors", "global_sectors_ideal", "sectors"),
    ("bank conflicts", "bank", "shared_wavefronts", "shared_wavefronts_ideal", "wavefronts"),
    ("divergence", "div", "branches", None, "branches"),
)


def _heat(counts: dict[int, dict[str, float]]) -> dict[int, tuple[Heat, ...]]:
    found: dict[int, list[Heat]] = {}
    for title, short, name, ideal_name, unit in HEATS:
        values: dict[int, tuple[float, float]] = {}
        for line, of_line in counts.items():
            if ideal_name is None:
                diverged = of_line.get("divergent_branches", 0.0)
                if diverged:
                    values[line] = (diverged, 0.0)
            elif of_line.get(name):
                values[line] = (of_line[name], of_line.get(ideal_name, 0.0))
        most = max((value for value, _ in values.values()), default=0.0)
        for line, (value, ideal) in values.items():
            if ideal_name is None:
                total = counts[line].get(name, value)
                text = f"{value:,.0f} of {total:,.0f} {unit} split a warp"
            else:
                text = f"{value:,.0f} {unit}, {ideal:,.0f} would do"
            found.setdefault(line, []).append(
                Heat(
                    title=title,
                    short=short,
                    share=value / most,
                    ideal_share=min(ideal, value) / most,
                    text=text,
                )
            )
    return {line: tuple(heats) for line, heats in found.items()}


def safe(markup: str) -> Markup:
    """Mark HTML that this module made as safe for the template."""
    return Markup(markup)
