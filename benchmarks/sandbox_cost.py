"""What the sandbox costs per call: sandboxed against not, fresh and forked from a warm process.

    python benchmarks/sandbox_cost.py [CALLS]

The job does nothing, so the times are the whole overhead of a call. "no layers" is the same child
without Landlock, seccomp and bubblewrap. Medians in milliseconds; the last column is the ratio to
the same kind of child without layers.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence

from grader.sandbox import Warm, call, calls, layers
from grader.sandbox.layers import available

PRELOAD = ("numpy", "llvmlite.binding")
JOB = "grader.sandbox.probes:echo"


def median_ms(count: int, warm: Warm | None) -> float:
    """Median wall time of `count` calls after one that is not counted."""
    times = []
    for _ in range(count + 1):
        started = time.perf_counter()
        reply = call(JOB, {}, warm=warm)
        times.append((time.perf_counter() - started) * 1e3)
        assert reply.header == {}, reply
    return statistics.median(times[1:])


def measure(count: int, chosen: Sequence[str]) -> tuple[float, float]:
    """Milliseconds of a fresh and of a forked child under the layers `chosen`."""
    calls.available = lambda: tuple(chosen)  # type: ignore[attr-defined]
    fresh = median_ms(count, None)
    with Warm(PRELOAD, layers=chosen) as warm:
        return fresh, median_ms(count, warm)


def main() -> None:
    """Measure every combination that this machine has and print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    on = available()
    for layer in layers():
        print(f"{layer.name}: {'on' if layer.on else 'off'} ({layer.detail})")
    kernel = tuple(name for name in on if name != "bubblewrap")
    rows = {"no layers": (), " + ".join(kernel): kernel, " + ".join(on): on}
    bare = measure(count, ())
    print(f"\n{'layers':36} {'fresh ms':>9} {'ratio':>6} {'warm ms':>9} {'ratio':>6}")
    for name, chosen in rows.items():
        fresh, forked = measure(count, chosen) if chosen else bare
        ratios = fresh / bare[0], forked / bare[1]
        print(f"{name:36} {fresh:9.1f} {ratios[0]:6.2f} {forked:9.1f} {ratios[1]:6.2f}")


if __name__ == "__main__":
    main()
