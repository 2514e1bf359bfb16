"""Pictures as SVG text: where the wrong elements of an output stand, how long each case took.

Each picture says in its own words what it shows, for those who cannot see it.
"""

from __future__ import annotations

from markupsafe import Markup

from grader.report import words
from grader.result import CaseResult, OutputMap

CELL = 10


def output_map(picture: OutputMap, case: CaseResult) -> Markup:
    """A cell per element or group of elements: right, wrong, or never written."""
    wrong, unwritten = sum(picture.wrong), sum(picture.unwritten)
    shape = " × ".join(map(str, picture.shape))
    said = [f"{words.count(wrong)} wrong"] if wrong else []
    said += [f"{words.count(unwritten)} never written"] if unwritten else []
    title = f"{picture.output} ({shape} elements) in case {case.name}: {' and '.join(said)}"
    width, height = picture.columns * CELL, picture.rows * CELL
    total = _elements(picture)
    most = picture.rows_per_cell * picture.columns_per_cell
    parts = []
    for number, (bad, missing) in enumerate(zip(picture.wrong, picture.unwritten, strict=True)):
        row, column = divmod(number, picture.columns)
        first = row * picture.rows_per_cell * picture.width + column * picture.columns_per_cell
        if first >= total or column * picture.columns_per_cell >= picture.width:
            continue
        kind = "wrong" if bad else "unwritten" if missing else "right"
        share = max(bad, missing) / most
        faint = f' opacity="{max(0.35, share):.2f}"' if kind != "right" and share < 1 else ""
        parts.append(
            f'<rect class="{kind}" x="{column * CELL}" y="{row * CELL}" '
            f'width="{CELL - 1}" height="{CELL - 1}"{faint}/>'
        )
    legend = f"A row is {picture.width} elements"
    if most > 1:
        legend += f", a cell up to {words.count(most)} of them"
    return Markup(
        '<figure class="map"><svg role="img" aria-label="{title}" viewBox="0 0 {w} {h}" '
        'width="{w}" height="{h}">{cells}</svg><figcaption>{title}. {legend}.'
        "</figcaption></figure>"
    ).format(title=title, w=width, h=height, cells=Markup("".join(parts)), legend=legend)


def _elements(picture: OutputMap) -> int:
    total = 1
    for extent in picture.shape:
        total *= extent
    return total
