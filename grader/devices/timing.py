"""How a kernel is timed on real hardware: the order of things, and what is not believed.

A device lends a `Stage` of small functions; everything else is here and runs without any hardware.
`measure` interleaves the student's kernel with the reference (A B A B), each timed region on inputs
it has not seen, at addresses it has not seen, with a cold L2. `judge` looks at the readings alone:
it runs in the parent, on numbers that came back from the child. docs/devices.md explains each rule.

All times are nanoseconds unless a name says otherwise.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Side = Literal["yours", "reference"]
SIDES: tuple[Side, Side] = ("yours", "reference")


@dataclass(frozen=True)
class Stage:
    """What a device does for the protocol.

    `lay(side, sets, fresh)` puts the inputs `sets` at addresses not used before, poisons the
    outputs and, if `fresh`, loads the code anew; `launch(side)` queues one launch for each set
    laid; `settle(side)` looks at what they left (inputs unchanged, red zones whole, outputs taken
    away to be judged) and says what is wrong. `clear_l2` also gives up lines that persist in it.
    `event` records a mark behind everything queued so far and `elapsed` is the time between two;
    `synchronise` waits for the whole device, not for one stream; `clock` is a steady wall clock.
    """

    lay: Callable[[Side, Sequence[int], bool], None]
    clear_l2: Callable[[], None]
    synchronise: Callable[[], None]
    event: Callable[[], Any]
    launch: Callable[[Side], None]
    elapsed: Callable[[Any, Any], float]
    clock: Callable[[], int]
    settle: Callable[[Side], str]
    threads: Callable[[], int]
    clock_hz: Callable[[], float]


@dataclass(frozen=True)
class Rules:
    """The numbers of the protocol.

    `least` pairs are measured whatever the kernel does, so that nothing it does while it warms up
    can shorten the measurement; `most` and `budget_seconds` end it. A region shorter than
    `region_ns` is filled with more launches, up to the number of input sets.
    """

    warm_up: int = 3
    warm_up_most: int = 20
    least: int = 10
    most: int = 400
    budget_seconds: float = 8.0
    relative_error: float = 0.005
    region_ns: float = 200_000.0
    empty_regions: int = 8


RULES = Rules()
SETTLED = 0.05
"""Warm-up ends when two readings in a row differ by less: clocks of an idle GPU have risen."""


@dataclass(frozen=True)
class Reading:
    """One timed region.

    `event` lies between the mark before the launches and the one right behind them, `drained`
    between the first and one made after the whole device had come to rest, `wall` is the host's
    clock over all of it. `launches` ran inside. `threads` started in between and were not there
    before; `wrong` is what the launches did to memory that is not theirs.
    """

    side: Side
    launches: int
    event: float
    drained: float
    wall: float
    threads: int = 0
    clock_hz: float = 0.0
    wrong: str = ""

    @property
    def each(self) -> float:
        """Time of one launch."""
        return self.event / self.launches


@dataclass(frozen=True)
class Readings:
    """What a child measured: regions without any launch, then pairs in the order in which they ran.

    `empty` tells how far the clocks are apart where nothing happens.
    """

    empty: tuple[Reading, ...]
    yours: tuple[Reading, ...]
    reference: tuple[Reading, ...]
    sets: int = 0

    def plus(self, more: Readings) -> Readings:
        """These and those of another run of the same protocol."""
        return Readings(
            self.empty + more.empty,
            self.yours + more.yours,
            self.reference + more.reference,
            max(self.sets, more.sets),
        )


# ---- measuring -------------------------------------------------------------------------------


def orders(sets: int, launches: int, draw: random.Random) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Which input sets each region uses, and whether code must be loaded afresh before it.

    The order is drawn. A set returns only after the code was loaded afresh: what a kernel kept in
    a global of its module about a set is gone by then.
    """
    if not 1 <= launches <= sets:
        raise ValueError(f"{launches} launches need as many sets of inputs, there are {sets}")
    while True:
        order = draw.sample(range(sets), sets)
        for start in range(0, sets - launches + 1, launches):
            yield tuple(order[start : start + launches]), start == 0


def region(stage: Stage, side: Side, sets: Sequence[int], fresh: bool) -> Reading:
    """Time one region: lay, clear L2, come to rest, mark, launch, mark, come to rest, mark.

    Everything but the launches lies outside the two marks that count; nothing is subtracted.
    """
    stage.lay(side, sets, fresh)
    stage.clear_l2()
    stage.synchronise()
    threads = stage.threads()
    started = stage.clock()
    before = stage.event()
    if sets:
        stage.launch(side)
    behind = stage.event()
    stage.synchronise()
    rest = stage.event()
    stage.synchronise()
    wall = stage.clock() - started
    reading = Reading(
        side=side,
        launches=max(1, len(sets)),
        event=stage.elapsed(before, behind),
        drained=stage.elapsed(before, rest),
        wall=float(wall),
        threads=max(0, stage.threads() - threads),
        clock_hz=stage.clock_hz(),
    )
    # Only now: looking at the outputs is what a kernel that works late would wait for.
    return replace(reading, wrong=stage.settle(side)) if sets else reading


def measure(
    stage: Stage, sets: int, rules: Rules = RULES, draw: random.Random | None = None
) -> Readings:
    """Warm up, choose how many launches fill a region, then measure pairs until they agree.

    `sets` is how many different inputs the stage has for each side.
    """
    draw = draw or random.SystemRandom()
    deadline = stage.clock() + rules.budget_seconds * 1e9
    empty = tuple(region(stage, side, (), False) for side in SIDES * (rules.empty_regions // 2))
    launches = _launches(stage, sets, rules, draw)
    turns = {side: orders(sets, launches, draw) for side in SIDES}
    yours: list[Reading] = []
    reference: list[Reading] = []
    while len(yours) < rules.most:
        yours.append(region(stage, "yours", *next(turns["yours"])))
        reference.append(region(stage, "reference", *next(turns["reference"])))
        if len(yours) < rules.least:
            continue
        errors = [relative_error([r.each for r in found]) for found in (yours, reference)]
        if max(errors) < rules.relative_error or stage.clock() > deadline:
            break
    return Readings(empty, tuple(yours), tuple(reference), sets)


def _launches(stage: Stage, sets: int, rules: Rules, draw: random.Random) -> int:
    """Warm both sides up; how many launches of the *reference* fill a region.

    The reference decides, and both sides get the same number: a kernel cannot choose how it is
    measured by being slow while it warms up.
    """
    turns = {side: orders(sets, 1, draw) for side in SIDES}
    last = math.inf
    for turn in range(rules.warm_up_most):
        region(stage, "yours", *next(turns["yours"]))
        each = region(stage, "reference", *next(turns["reference"])).each
        if turn + 1 >= rules.warm_up and abs(each - last) <= SETTLED * last:
            last = each
            break
        last = each
    each = last if last >= 1.0 else 1.0  # also where an event gave no number
    return max(1, min(sets, math.ceil(rules.region_ns / each)))


# ---- statistics ------------------------------------------------------------------------------


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, summed without rounding errors that add up."""
    return math.fsum(values) / len(values)


def standard_error(values: Sequence[float]) -> float:
    """Standard error of the mean: sample standard deviation (n - 1) over the root of n.

    Infinite for fewer than two values.
    """
    n = len(values)
    if n < 2:
        return math.inf
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (n - 1) / n)


def relative_error(values: Sequence[float]) -> float:
    """Standard error of the mean over the mean."""
    centre = mean(values)
    return standard_error(values) / centre if centre > 0 else math.inf


@dataclass(frozen=True)
class Ratio:
    """Your time over the reference's from pairs, and the relative standard error of that."""

    value: float
    error: float


def paired_ratio(yours: Sequence[float], reference: Sequence[float]) -> Ratio:
    """The geometric mean of the ratios of pairs that ran one after the other.

    A clock that drifts moves both halves of a pair alike and leaves their ratio alone. The error is
    that of the mean logarithm, which is a relative one.
    """
    logarithms = [math.log(a / b) for a, b in zip(yours, reference, strict=True)]
    return Ratio(math.exp(mean(logarithms)), standard_error(logarithms))


def near_edge(ratio: Ratio, limits: Sequence[float], tie_margin: float) -> bool:
    """Whether two standard errors of a ratio reach across the limit of a band.

    A limit is met within the tie margin, so that is where the edge lies.
    """
    low, high = (ratio.value * math.exp(sign * 2 * ratio.error) for sign in (-1, 1))
    return any(low <= limit * (1 + tie_margin) <= high for limit in limits)


# ---- what no honest kernel beats -------------------------------------------------------------


@dataclass(frozen=True)
class Roof:
    """What a device can do at most: bytes and FP32 operations per second, and the size of L2."""

    bytes_per_second: float
    flops_per_second: float
    l2_bytes: int


def floor(
    roof: Roof, *, read_bytes: float, written_bytes: float, flops: float, launches: int = 1
) -> float:
    """The time that no launch which did its work beats, in nanoseconds.

    L2 is cold, so what must be read comes from memory; what is written may stay in L2 and reach
    memory after the clock has stopped, so only what L2 cannot hold counts (of all `launches` of a
    region together).
    """
    spilled = max(0.0, launches * written_bytes - roof.l2_bytes) / launches
    moved = (read_bytes + spilled) / roof.bytes_per_second if roof.bytes_per_second else 0.0
    computed = flops / roof.flops_per_second if roof.flops_per_second else 0.0
    return 1e9 * max(moved, computed)


# ---- what is believed ------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    """What readings are worth.

    `untrusted` are reasons why the time is not believed, each said once; `remarks` are what a
    reader should know. `yours` and `reference` are mean times of a launch, `errors` their relative
    standard errors.
    """

    yours: float
    reference: float
    ratio: Ratio
    errors: tuple[float, float]
    launches: int
    pairs: int
    noisy: bool
    untrusted: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


SLACK_OF_EMPTY = 4.0
"""Clocks may differ by this many times what they differ by where nothing is launched ..."""

SLACK_OF_WALL = 0.05
"""... and by this share of the time measured."""

THROTTLED = 0.9
"""A clock below this share of the highest one seen."""

DIFFERENT_WORK = 3.0
"""Slowest over fastest region of a kernel that does the same work each time."""


def judge(readings: Readings, floor_ns: float, rules: Rules = RULES) -> Judgement:
    """Judge readings: statistics, and every reason not to believe them."""
    yours = [reading.each for reading in readings.yours]
    reference = [reading.each for reading in readings.reference]
    usable = all(math.isfinite(value) and value > 0 for value in [*yours, *reference])
    ratio = paired_ratio(yours, reference) if usable else Ratio(math.inf, math.inf)
    errors = (relative_error(yours), relative_error(reference))
    noisy = max(errors) >= rules.relative_error
    untrusted = _reasons(readings.yours, readings.empty, floor_ns)
    if usable and _uneven(yours) and not _uneven(reference):
        untrusted.append("some launches took far longer than others, on inputs of the same kind")
    remarks = [
        f"the reference's time is odd: {reason}"
        for reason in _reasons(readings.reference, readings.empty, floor_ns)
    ]
    if noisy:
        remarks.append(
            f"noisy: the standard error is still {max(errors):.1%} "
            f"after {len(yours)} pairs, {rules.relative_error:.1%} was wanted"
        )
    remarks += _clocks([*readings.yours, *readings.reference])
    return Judgement(
        yours=mean(yours),
        reference=mean(reference),
        ratio=ratio,
        errors=errors,
        launches=readings.yours[0].launches,
        pairs=len(yours),
        noisy=noisy,
        untrusted=tuple(untrusted),
        remarks=tuple(remarks),
    )


def _uneven(values: Sequence[float]) -> bool:
    """Whether more than a twentieth took far longer than the fastest: no accident does that."""
    slow = sum(value > DIFFERENT_WORK * min(values) for value in values)
    return slow > len(values) / 20


def _reasons(readings: Sequence[Reading], empty: Sequence[Reading], floor_ns: float) -> list[str]:
    """Why readings are not believed, each reason once."""
    found = (_disbelieved(reading, empty, floor_ns) for reading in readings)
    return list(dict.fromkeys(reason for reason in found if reason))


def _disbelieved(reading: Reading, empty: Sequence[Reading], floor_ns: float) -> str:
    """Why one reading is not believed; empty where nothing speaks against it."""
    if reading.wrong:
        return reading.wrong
    if reading.threads:
        return "a thread was started while the kernel ran"
    if not all(map(math.isfinite, (reading.event, reading.drained, reading.wall))):
        return "the events gave no time"
    if reading.event <= 0:
        return "the events gave no time"
    share = SLACK_OF_WALL * reading.wall
    late = SLACK_OF_EMPTY * max((e.drained - e.event for e in empty), default=0.0) + share
    if reading.drained - reading.event > late:
        return "the device went on working after the launches had ended by their events"
    apart = SLACK_OF_EMPTY * max((e.wall - e.drained for e in empty), default=0.0) + share
    if reading.wall - reading.drained > apart:
        return "the events gave a shorter time than the clock on the wall"
    if reading.event - reading.wall > share:
        return "the events gave a longer time than the clock on the wall"
    if reading.each < floor_ns:
        return "it was faster than the device can move its data or do its arithmetic"
    return ""


def _clocks(readings: Sequence[Reading]) -> list[str]:
    """A remark where the device's clock fell while it was measured."""
    clocks = [reading.clock_hz for reading in readings if reading.clock_hz > 0]
    slow = sum(clock < THROTTLED * max(clocks) for clock in clocks)
    if not slow:
        return []
    return [
        f"the device lowered its clock, to {min(clocks) / 1e6:.0f} of {max(clocks) / 1e6:.0f} MHz, "
        f"in {slow} of {len(clocks)} regions"
    ]
