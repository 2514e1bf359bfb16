"""The timing protocol against a scripted GPU: honest kernels, and every cheat of groups A and B."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.devices import timing
from grader.devices.timing import Judgement, Rules, judge, measure
from tests.devices.scripted import COLD, WARM, Gpu, Slot, honest

RULES = Rules(budget_seconds=1.0, most=60)
FLOOR = 20_000.0
"""What no launch of the scripted GPU honestly beats: between a warm and a cold one."""


def timed(gpu: Gpu, rules: Rules = RULES, floor: float = FLOOR) -> Judgement:
    readings = measure(gpu.stage(), gpu.sets, rules, random.Random(5))
    return judge(readings, floor, rules)


def half_as_fast(gpu: Gpu, slot: Slot) -> None:
    honest(gpu, slot, 2.0)


# ---- honest ------------------------------------------------------------------------------------


def test_an_honest_kernel_is_believed_and_its_ratio_is_right() -> None:
    found = timed(Gpu(half_as_fast, honest))
    assert found.untrusted == ()
    assert found.ratio.value == pytest.approx(2.0, rel=0.01)
    assert found.reference == pytest.approx(COLD, rel=0.02)
    assert not found.noisy
    assert found.pairs >= RULES.least


def test_the_order_of_things() -> None:
    gpu = Gpu(honest, honest)
    measure(gpu.stage(), gpu.sets, RULES, random.Random(1))
    last = gpu.steps[len(gpu.steps) - 1 - gpu.steps[::-1].index("lay") :]
    assert last == [
        "lay", "clear_l2", "synchronise", "event", "launch", "event",
        "synchronise", "event", "synchronise", "settle",
    ]  # fmt: skip


def test_a_short_kernel_is_launched_many_times_in_a_region() -> None:
    assert timed(Gpu(honest, honest)).launches == 4  # 4 x 50 us fill 200 us
    assert timed(Gpu(honest, honest, sets=2)).launches == 2  # never more than there are inputs


def test_a_noisy_machine_is_called_noisy() -> None:
    found = timed(Gpu(honest, honest, noise=0.8), replace(RULES, budget_seconds=0.02))
    assert found.noisy
    assert any("noisy" in remark for remark in found.remarks)
    assert found.untrusted == ()


def test_a_clock_that_falls_is_told_and_leaves_the_ratio_alone() -> None:
    def hot(gpu: Gpu, slot: Slot) -> None:
        gpu.speed = max(0.6, gpu.speed * 0.98)
        half_as_fast(gpu, slot)

    found = timed(Gpu(hot, honest, noise=0.0))
    assert any("lowered its clock" in remark for remark in found.remarks)
    assert found.ratio.value == pytest.approx(2.0, rel=0.03)


def test_clocks_that_sleep_are_awake_before_it_counts() -> None:
    def waking(gpu: Gpu, slot: Slot) -> None:
        gpu.speed = min(1.0, gpu.speed * 1.2)
        honest(gpu, slot)

    found = timed(Gpu(waking, waking, speed=0.2))
    assert found.yours == pytest.approx(COLD, rel=0.02)
    assert not any("lowered" in remark for remark in found.remarks)


# ---- A: timing ---------------------------------------------------------------------------------


def side_stream(gpu: Gpu, slot: Slot) -> None:
    """A1: the work runs where the events on the main stream do not see it."""
    gpu.work(1_000.0)
    gpu.work(COLD, "side")
    slot.output = -slot.inputs


def late_thread(gpu: Gpu, slot: Slot) -> None:
    """A2: a thread of the host computes after the call has returned."""
    gpu.work(1_000.0)
    gpu.extra_threads = 1
    gpu.deferred.append(lambda: setattr(slot, "output", -slot.inputs))


def lazy(gpu: Gpu, slot: Slot) -> None:
    """A3, A4: nothing is computed until somebody looks: our outputs are plain memory."""
    gpu.work(30_000.0)


def early_return(gpu: Gpu, slot: Slot) -> None:
    """Returns at once, with the poison in place."""
    gpu.work(500.0)


def corrupt_later(gpu: Gpu, slot: Slot) -> None:
    """C29: right for the first launches, cheap and wrong after."""
    calls = int(str(gpu.host.setdefault("calls", 0)))
    gpu.host["calls"] = calls + 1
    honest(gpu, slot, 1.0 if calls < 12 else 0.6)
    if calls >= 12:
        slot.output = 0.5


def impossible(gpu: Gpu, slot: Slot) -> None:
    """A12: by whatever means, right and in a tenth of what the data alone takes."""
    gpu.work(FLOOR / 10)
    slot.output = -slot.inputs


def constant_by_size(gpu: Gpu, slot: Slot) -> None:
    """B18: the size is known, so the answer of another input of that size is handed back."""
    gpu.work(21_000.0)
    slot.output = -3.0


def persistent_l2(gpu: Gpu, slot: Slot) -> None:
    """A9: lines that persist keep the inputs warm through the flush."""
    gpu.work(WARM)
    slot.output = -slot.inputs


@pytest.mark.parametrize(
    ("cheat", "reason"),
    [
        (side_stream, "went on working"),
        (late_thread, "thread was started"),
        (lazy, "never written"),
        (early_return, "never written"),
        (corrupt_later, "wrong"),
        (persistent_l2, "faster than the device can"),
        (impossible, "faster than the device can"),
        (constant_by_size, "wrong"),
    ],
)
def test_a_cheat_is_not_believed(cheat: Callable[[Gpu, Slot], None], reason: str) -> None:
    found = timed(Gpu(cheat, honest))
    assert any(reason in said for said in found.untrusted), found


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 2.0])
def test_events_that_lie_are_caught_by_the_wall_clock(share: float) -> None:
    """A5, A6: elapsed_time was replaced, or the end event's handle overwritten."""
    gpu = Gpu(honest, honest)
    gpu.elapsed = lambda before, after: share * (after - before)
    reason = "longer" if share > 1 else "shorter"
    assert any(reason in said for said in timed(gpu, floor=0.0).untrusted)


def test_two_clocks_that_lie_alike_are_caught_by_the_floor() -> None:
    """A5 in full: perf_counter was replaced as well."""
    gpu = Gpu(honest, honest)
    gpu.elapsed = lambda before, after: 0.1 * (after - before)
    gpu.wall = lambda now: 0.1 * now
    assert any("faster than the device can" in said for said in timed(gpu).untrusted)


@pytest.mark.parametrize("lie", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_is_none_is_not_believed(lie: float) -> None:
    gpu = Gpu(honest, honest)
    gpu.elapsed = lambda before, after: lie
    assert timed(gpu).untrusted


def test_slow_while_warming_up_does_not_shorten_the_measurement() -> None:
    """A8: the harness of others picked three repetitions for a kernel that slept at first."""

    def sleeper(gpu: Gpu, slot: Slot) -> None:
        calls = int(str(gpu.host.setdefault("calls", 0)))
        gpu.host["calls"] = calls + 1
        honest(gpu, slot, 200.0 if calls < 5 else 1.0)

    plain, slept = timed(Gpu(honest, honest)), timed(Gpu(sleeper, honest))
    assert slept.launches == plain.launches
    assert slept.pairs >= RULES.least


def test_a_slow_flush_makes_nothing_faster() -> None:
    """A11: where a flush measured apart is subtracted, slowing it pays; here it is outside."""

    def slowing(gpu: Gpu, slot: Slot) -> None:
        gpu.flush = 400_000.0
        honest(gpu, slot)

    found = timed(Gpu(slowing, honest))
    assert found.untrusted == ()
    assert found.yours == pytest.approx(COLD, rel=0.02)


# ---- A7, A10, B: results kept ------------------------------------------------------------------


def by_address(gpu: Gpu, slot: Slot) -> object:
    """B13: the cache is keyed by where the inputs lie."""
    return slot.address


def by_content(gpu: Gpu, slot: Slot) -> object:
    """B13, B15: the cache is keyed by what the inputs are."""
    return slot.inputs


def by_turn(gpu: Gpu, slot: Slot) -> object:
    """A7, A10, B14: the answers are replayed in the order in which they were asked for."""
    turn = int(str(gpu.statics.setdefault("turn", 0)))
    gpu.statics["turn"] = turn + 1
    return "turn", turn % 4


@pytest.mark.parametrize("key", [by_address, by_content, by_turn])
def test_a_kept_result_is_never_asked_for_again(
    key: Callable[[Gpu, Slot], object],
) -> None:
    """Statics of the module are gone before a set of inputs returns: no hit, or a wrong output."""
    hits = []

    def caching(gpu: Gpu, slot: Slot) -> None:
        name = key(gpu, slot)
        if name in gpu.statics:
            hits.append(name)
            gpu.work(21_000.0)  # just slow enough for the floor
            slot.output = gpu.statics[name]  # type: ignore[assignment]
        else:
            honest(gpu, slot)
            gpu.statics[name] = slot.output

    found = timed(Gpu(caching, honest))
    if hits:
        assert "an output was wrong" in found.untrusted
    else:
        assert found.ratio.value == pytest.approx(1.0, rel=0.02)


def test_a_cache_that_outlives_the_module_shows_in_uneven_times() -> None:
    """What our child makes impossible would still be seen: first calls are slow, replays fast."""

    def caching(gpu: Gpu, slot: Slot) -> None:
        honest(gpu, slot, 0.1 if slot.inputs in gpu.host and gpu.draw.random() < 0.5 else 1.0)
        gpu.host[slot.inputs] = True

    found = timed(Gpu(caching, honest, sets=1), floor=0.0)
    assert any("far longer than others" in said for said in found.untrusted)


def test_all_inputs_computed_in_one_call_cost_that_call() -> None:
    """A7: what is computed ahead is computed inside a timed region, or before the inputs exist."""

    def batching(gpu: Gpu, slot: Slot) -> None:
        if slot.output is None:
            for other in gpu.laid["yours"]:
                gpu.work(COLD)
                other.output = -other.inputs

    found = timed(Gpu(batching, honest))
    assert found.ratio.value == pytest.approx(1.0, rel=0.02)


def test_the_old_output_of_the_same_memory_is_never_there() -> None:
    """B14, C24: every repetition has memory of its own, with poison in it."""
    seen = []

    def looking(gpu: Gpu, slot: Slot) -> None:
        seen.append((slot.address, slot.output))
        honest(gpu, slot)

    timed(Gpu(looking, honest))
    assert len({address for address, _ in seen}) == len(seen)
    assert all(output is None for _, output in seen)


@given(sets=st.integers(1, 40), share=st.floats(0.01, 1), seed=st.integers(0, 9))
def test_no_inputs_return_without_fresh_code(sets: int, share: float, seed: int) -> None:
    launches = max(1, int(sets * share))
    turns = timing.orders(sets, launches, random.Random(seed))
    seen: set[int] = set()
    for _ in range(3 * sets):
        used, fresh = next(turns)
        if fresh:
            seen.clear()
        assert len(used) == launches
        assert not seen & set(used)
        assert len(set(used)) == len(used)
        seen |= set(used)


def test_the_order_of_inputs_is_drawn() -> None:
    first = [next(timing.orders(16, 16, random.Random(seed)))[0] for seed in range(4)]
    assert len(set(first)) == 4


def test_more_launches_than_inputs_are_refused() -> None:
    with pytest.raises(ValueError, match="sets of inputs"):
        next(timing.orders(3, 4, random.Random(0)))


def test_the_page_names_a_trial_for_every_hack_that_is_known() -> None:
    """Of the two tables of docs/threats.md that are about time and about answers kept."""
    root = Path(__file__).parents[2]
    threats = (root / "docs" / "threats.md").read_text()
    tables = threats[threats.index("### Timing") : threats.index("### Wrong answers that pass")]
    rows = re.findall(r"^\| ([^|]+) \|", tables, re.MULTILINE)
    known = [row for row in rows if row != "hack" and not row.startswith("--")]
    page = (root / "docs" / "devices.md").read_text()
    tried = dict(re.findall(r"^\| ([^|]+) \| (`[^|]+`) \|$", page, re.MULTILINE))
    assert len(known) >= 19
    assert set(known) <= set(tried)
    written = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    for row in known:
        for name in re.findall(r"`(\w+)`", tried[row]):
            assert f"def {name}(" in written, (row, name)


# ---- statistics --------------------------------------------------------------------------------

times = st.lists(st.integers(1, 10**9), min_size=2, max_size=60)


@given(times)
def test_mean_and_standard_error_are_those_of_exact_arithmetic(values: list[int]) -> None:
    exact = Fraction(sum(values), len(values))
    variance = sum((value - exact) ** 2 for value in values) / (len(values) - 1)
    assert timing.mean(values) == pytest.approx(float(exact), rel=1e-12)
    wanted = math.sqrt(variance / len(values))
    assert timing.standard_error(values) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_one_value_has_no_error_that_is_known() -> None:
    assert timing.standard_error([3.0]) == math.inf


@given(times, st.floats(0.01, 100))
def test_a_constant_factor_is_the_ratio_and_has_no_error(values: list[int], factor: float) -> None:
    found = timing.paired_ratio([factor * value for value in values], values)
    assert found.value == pytest.approx(factor, rel=1e-9)
    assert found.error == pytest.approx(0.0, abs=1e-9)


@given(times, times)
def test_swapping_the_sides_inverts_the_ratio(yours: list[int], reference: list[int]) -> None:
    count = min(len(yours), len(reference))
    one = timing.paired_ratio(yours[:count], reference[:count])
    other = timing.paired_ratio(reference[:count], yours[:count])
    assert one.value * other.value == pytest.approx(1.0)
    assert one.error == pytest.approx(other.error, abs=1e-9)


@given(st.floats(0.1, 10), st.floats(0, 0.2), st.floats(0.1, 10), st.floats(0, 0.2))
def test_near_an_edge(value: float, error: float, limit: float, margin: float) -> None:
    near = timing.near_edge(timing.Ratio(value, error), [limit], margin)
    distance = abs(math.log(value) - math.log(limit * (1 + margin)))
    if abs(distance - 2 * error) > 1e-9:
        assert near == (distance < 2 * error)


# ---- the floor ---------------------------------------------------------------------------------

ROOF = timing.Roof(bytes_per_second=1e12, flops_per_second=1e13, l2_bytes=1000)


@pytest.mark.parametrize(
    ("read", "written", "flops", "launches", "wanted"),
    [
        (1_000_000, 0, 0, 1, 1_000.0),
        (1_000_000, 900, 0, 1, 1_000.0),  # the write may stay in L2
        (1_000_000, 2_000, 0, 1, 1_001.0),
        (1_000_000, 900, 0, 10, 1_000.8),  # ten of them cannot
        (0, 0, 1_000_000, 1, 100.0),
        (0, 0, 0, 1, 0.0),
    ],
)
def test_the_floor(read: int, written: int, flops: int, launches: int, wanted: float) -> None:
    found = timing.floor(
        ROOF, read_bytes=read, written_bytes=written, flops=flops, launches=launches
    )
    assert found == pytest.approx(wanted)


def test_an_unknown_roof_is_no_floor() -> None:
    roof = timing.Roof(0.0, 0.0, 0)
    assert timing.floor(roof, read_bytes=1e9, written_bytes=1e9, flops=1e9) == 0.0
