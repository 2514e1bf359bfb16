"""The student's source as rows: highlighted text, the findings on each line and its counts."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
    """One count of a line beside what would do, as shares of what the whole kernel did."""

    title: str
    short: str
    share: float
    ideal_share: float
    text: str


class Full(Record):
    """What a full bar of one colour stands for, and what of it was more than needed, in words."""

    short: str
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
    heat = _heat(lines, counts)
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
    ("memory traffic", "mem", "global_sectors", "sectors of 32 bytes moved"),
    ("bank conflicts", "bank", "shared_wavefronts", "passes over shared memory"),
    ("divergence", "div", "branches", "branches taken by warps"),
)
"""Title, colour, count, and what the whole kernel did in words."""


def _of_line(name: str, counts: Mapping[str, float]) -> tuple[float, float, str]:
    """How much a line did, how much would do, and both in words; 0 where it did nothing.

    Of branches only those that split a warp cost more than they need.
    """
    did = counts.get(name, 0.0)
    if name == "branches":
        split = counts.get("divergent_branches", 0.0)
        text = f"{split:,.0f} of {did:,.0f} branches split a warp"
        return (did, did - split, text) if split else (0.0, 0.0, "")
    ideal = min(did, counts.get(f"{name}_ideal", 0.0))
    unit = "sectors" if name == "global_sectors" else "passes"
    return did, ideal, f"{did:,.0f} {unit}, {ideal:,.0f} would do"


def _heat(
    lines: tuple[LineMetrics, ...], counts: Mapping[int, Mapping[str, float]]
) -> dict[int, tuple[Heat, ...]]:
    found: dict[int, list[Heat]] = {}
    for title, short, name, _ in HEATS:
        whole = sum(line.counts.get(name, 0.0) for line in lines)
        for number, of_line in counts.items():
            did, ideal, text = _of_line(name, of_line)
            if did:
                found.setdefault(number, []).append(
                    Heat(
                        title=title,
                        short=short,
                        share=did / whole,
                        ideal_share=ideal / whole,
                        text=text,
                    )
                )
    return {number: tuple(heats) for number, heats in found.items()}


def legend(lines: tuple[LineMetrics, ...]) -> tuple[Full, ...]:
    """What a full bar is: all that the kernel did of each kind, whatever line did it."""
    found = []
    for _, short, name, words_ in HEATS:
        each = [_of_line(name, line.counts) for line in lines]
        if any(did for did, _, _ in each):
            whole = sum(line.counts.get(name, 0.0) for line in lines)
            wasted = sum(did - ideal for did, ideal, _ in each)
            text = f"all {whole:,.0f} {words_}; {_percent(wasted, whole)} of them {_MORE[short]}"
            found.append(Full(short=short, text=text))
    return tuple(found)


_MORE = {
    "mem": "more than needed",
    "bank": "for bank conflicts",
    "div": "split a warp",
}


def _percent(part: float, whole: float) -> str:
    """A share that is 0 % only where it is nothing, and 100 % only where it is all."""
    share = 100 * part / whole
    if 0 < share < 1:
        return "less than 1 %"
    return "none" if not part else f"{min(share, 99) if part < whole else 100:.0f} %"


def safe(markup: str) -> Markup:
    """Mark HTML that this module made as safe for the template."""
    return Markup(markup)
