"""Pictures as SVG text: where the wrong elements of an output stand, what each case cost.

Each picture says in its own words what it shows, for those who cannot see it.
"""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from grader.report import words
from grader.result import CaseResult, Fault, Metrics, OutputMap, Timing

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
    legend = f"A row is {picture.width} element{'s' * (picture.width != 1)}"
    if most > 1:
        legend += f", a cell up to {words.count(most)} of them"
    return Markup(
        '<figure class="map"><svg role="img" aria-label="{title}" viewBox="0 0 {w} {h}" '
        'width="{w}" height="{h}">{cells}</svg><figcaption>{title}. {legend}.'
        "</figcaption></figure>"
    ).format(title=title, w=width, h=height, cells=Markup("".join(parts)), legend=legend)


def maps(cases: tuple[CaseResult, ...], most: int) -> list[Markup]:
    """At most `most` maps, those first that show the most: neither a line nor all one colour."""

    def dullness(picture: OutputMap) -> tuple[bool, bool, int]:
        lined = min(picture.rows, picture.columns) == 1
        bad = sum(picture.wrong) + sum(picture.unwritten)
        return lined, bad == _elements(picture), picture.rows_per_cell * picture.columns_per_cell

    pairs = [(picture, case) for case in cases for picture in case.maps]
    pairs.sort(key=lambda pair: dullness(pair[0]))
    return [output_map(picture, case) for picture, case in pairs[:most]]


def access(fault: Fault | None) -> Markup | None:
    """Which lane of the warp touched which element; red where that is outside of the buffer.

    None for a fault whose lanes are not known. Elements far apart are put on an axis instead of
    into cells.
    """
    if fault is None or not fault.lanes or fault.extent is None:
        return None
    touched = [element for element in fault.lanes if element is not None]
    low, high = min(touched), max(touched)
    wide = high - low >= 64
    if wide:
        low, high = min(low, 0), max(high, fault.extent - 1)
    pitch, top, gap = 20, 16, 70
    width = 32 * pitch
    step = width / (high - low + 1)

    def outside(element: int) -> bool:
        return not 0 <= element < (fault.extent or 0)

    parts = []
    if wide:
        left, right = (0 - low) * step, (fault.extent - low) * step
        parts.append(
            f'<rect class="right" x="{left:.1f}" y="{top + gap}" '
            f'width="{max(1.0, right - left):.1f}" height="16"/>'
        )
    else:
        for element in range(low, high + 1):
            kind = "beyond" if outside(element) else "right"
            parts.append(
                f'<rect class="{kind}" x="{(element - low) * step:.1f}" y="{top + gap}" '
                f'width="{step - 1:.1f}" height="16"/>'
            )
    for lane, target in enumerate(fault.lanes):
        x = lane * pitch + pitch / 2
        kind = "idle" if target is None else "bad" if outside(target) else "good"
        parts.append(
            f'<rect class="lane {kind}" x="{lane * pitch}" y="{top}" width="{pitch - 1}" '
            f'height="16"/><text class="tick" text-anchor="middle" x="{x}" y="{top + 12}">{lane}'
            "</text>"
        )
        if target is not None:
            at = (target - low + 0.5) * step
            parts.append(
                f'<line class="{kind}" x1="{x}" y1="{top + 16}" x2="{at:.1f}" y2="{top + gap}"/>'
            )
    last = -math.inf
    for element in sorted({low, *(e for e in (0, fault.extent) if low <= e <= high), high}):
        at = min(max((element - low + 0.5) * step, 12), width - 12)
        if at - last < 36:
            continue  # it would be printed over its neighbour
        last = at
        parts.append(
            f'<text class="tick" text-anchor="middle" x="{at:.1f}" y="{top + gap + 30}">'
            f"{element}</text>"
        )
    bad = sum(outside(element) for element in touched)
    inside = len(touched) - bad
    lanes = "1 lane is" if bad == 1 else f"{bad} lanes are"
    title = (
        f"One warp's {fault.access} of {fault.buffer}, lane by lane: {lanes} outside of its "
        f"{words.count(fault.extent)} elements, {inside} inside"
    )
    return Markup(
        '<figure class="effort"><svg role="img" aria-label="{title}" viewBox="0 0 {w} {h}" '
        'width="{w}" height="{h}">{parts}</svg><figcaption>{title}. Above the lanes 0 to 31, below '
        "the elements they touched.</figcaption></figure>"
    ).format(title=title, w=width, h=top + gap + 36, parts=Markup("".join(parts)))


def effort(cases: tuple[CaseResult, ...]) -> Markup | None:
    """Time, or where nothing was timed warp instructions, of each case beside the reference.

    A row per case on a logarithmic axis; None where fewer than two cases can be compared.
    """
    timed = any(case.timing is not None for case in cases)
    rows = []
    for case in cases:
        own = _cost(case.timing, case.metrics, timed)
        other = case.reference and _cost(case.reference.timing, case.reference.metrics, timed)
        if own and other:
            rows.append((case.name, own, other))
    if len(rows) < 2:
        return None
    unit = "modelled time" if timed else "warp instructions"
    low = math.floor(math.log10(min(min(own, other) for _, own, other in rows)))
    high = max(low + 1, math.ceil(math.log10(max(max(own, other) for _, own, other in rows))))
    left, width, height, top = 170, 420, 22, 26

    def x(value: float) -> float:
        return left + width * (math.log10(value) - low) / (high - low)

    parts = []
    for power in range(low, high + 1):
        label = words.duration(10.0**power) if timed else f"{10**power:,}"
        at = x(10.0**power)
        parts.append(
            f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{top - 6}" '
            f'y2="{top + height * len(rows)}"/><text class="tick" text-anchor="middle" '
            f'x="{at:.1f}" y="{top - 10}">{label}</text>'
        )
    for number, (name, own, other) in enumerate(rows):
        y = top + height * (number + 0.5)
        short = name if len(name) <= 24 else name[:23] + "…"
        parts.append(
            f'<text x="{left - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(short)}</text>'
            f'<line class="grid" x1="{x(min(own, other)):.1f}" x2="{x(max(own, other)):.1f}" '
            f'y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<rect class="theirs" x="{x(other) - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>'
            f'<circle class="yours" cx="{x(own):.1f}" cy="{y:.1f}" r="5"/>'
        )
    said = "; ".join(
        f"{name}: {_value(own, timed)}, reference {_value(other, timed)}"
        for name, own, other in rows
    )
    return Markup(
        '<figure class="effort"><svg role="img" aria-label="{said}" viewBox="0 0 {w} {h}" '
        'width="{w}" height="{h}">{parts}</svg><figcaption>{unit} of each case, on a logarithmic '
        "axis: a circle is yours, a square the reference's.</figcaption></figure>"
    ).format(
        said=f"{unit} of each case. {said}",
        w=left + width + 30,
        h=top + height * len(rows) + 4,
        parts=Markup("".join(parts)),
        unit=unit.capitalize(),
    )


def roofline(case: CaseResult | None) -> Markup | None:
    """The kernel and the reference under the roof of the modelled GPU; None without flops or times.

    Both axes are logarithmic: arithmetic intensity (flops per byte of DRAM) and flops per second.
    """
    if case is None:
        return None
    points = [
        (name, kind, point)
        for name, kind, timing, metrics in (
            ("the reference", "theirs", *_reference(case)),
            ("yours", "yours", case.timing, case.metrics),
        )
        if (point := _point(timing, metrics)) is not None
    ]
    if "yours" not in [kind for _, kind, _ in points]:
        return None
    assert case.timing is not None  # or there were no point of ours
    bandwidth, peak = case.timing.dram_bytes_per_second, case.timing.flops_per_second
    if not bandwidth or not peak:
        return None
    ridge = peak / bandwidth
    low_x = 10 ** math.floor(math.log10(min(ridge / 100, *(x for _, _, (x, _) in points))))
    high_x = 10 ** math.ceil(math.log10(max(ridge * 10, *(x for _, _, (x, _) in points))))
    low_y = 10 ** math.floor(math.log10(min(bandwidth * low_x, *(y for _, _, (_, y) in points))))
    high_y = 10 ** math.ceil(math.log10(peak))
    left, top, width, height = 70, 10, 420, 240

    def x(value: float) -> float:
        return left + width * math.log10(value / low_x) / math.log10(high_x / low_x)

    def y(value: float) -> float:
        return top + height * (1 - math.log10(value / low_y) / math.log10(high_y / low_y))

    roof = [(low_x, bandwidth * low_x), (ridge, peak), (high_x, peak)]
    path = " ".join(f"{x(a):.1f},{y(max(b, low_y)):.1f}" for a, b in roof)
    parts = [f'<polyline class="roof" points="{path}"/>']
    value = low_x
    while value <= high_x * 1.01:
        parts.append(
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{top}" '
            f'y2="{top + height}"/><text class="tick" text-anchor="middle" x="{x(value):.1f}" '
            f'y="{top + height + 16}">{value:g}</text>'
        )
        value *= 10
    value = low_y
    while value <= high_y * 1.01:
        parts.append(
            f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y(value):.1f}" '
            f'y2="{y(value):.1f}"/><text class="tick" text-anchor="end" x="{left - 8}" '
            f'y="{y(value) + 4:.1f}">{_rate(value)}</text>'
        )
        value *= 10
    for _, kind, (a, b) in points:
        shape = (
            f'<circle class="yours" cx="{x(a):.1f}" cy="{y(b):.1f}" r="6"/>'
            if kind == "yours"
            else f'<rect class="theirs" x="{x(a) - 6:.1f}" y="{y(b) - 6:.1f}" '
            'width="12" height="12"/>'
        )
        parts.append(shape)
    said = "; ".join(
        f"{name}: {a:.3g} flops per byte, {_rate(b)}FLOP/s" for name, _, (a, b) in points
    )
    bound = f" What bounds yours: {case.timing.bound}." if case.timing.bound else ""
    return Markup(
        '<figure class="effort"><svg role="img" aria-label="{said}" viewBox="0 0 {w} {h}" '
        'width="{w}" height="{h}">{parts}</svg><figcaption>Case {case}: flops per second over '
        "flops per byte of DRAM, under the roof of the {device}. A circle is yours, a "
        "square the reference's.{bound}</figcaption></figure>"
    ).format(
        said=f"Roofline of case {case.name}. {said}",
        w=left + width + 20,
        h=top + height + 24,
        parts=Markup("".join(parts)),
        case=case.name,
        bound=bound,
        device=case.timing.device,
    )


def _reference(case: CaseResult) -> tuple[Timing | None, Metrics | None]:
    run = case.reference
    return (run.timing, run.metrics) if run is not None else (None, None)


def _point(timing: Timing | None, metrics: Metrics | None) -> tuple[float, float] | None:
    """Arithmetic intensity and flops per second; None where there are none."""
    if timing is None or metrics is None:
        return None
    flops, moved = metrics.counts.get("flops", 0.0), metrics.counts.get("dram_bytes", 0.0)
    if not flops or not moved or not timing.nanoseconds:
        return None
    return flops / moved, flops / (timing.nanoseconds * 1e-9)


def _rate(value: float) -> str:
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} "


def _cost(timing: Timing | None, metrics: Metrics | None, timed: bool) -> float:
    if timed:
        return timing.nanoseconds if timing else 0.0
    return metrics.counts.get("warp_instructions", 0.0) if metrics else 0.0


def _value(number: float, timed: bool) -> str:
    return words.duration(number) if timed else words.count(number)


def _elements(picture: OutputMap) -> int:
    total = 1
    for extent in picture.shape:
        total *= extent
    return total
