"""Does the modelled time order kernels as a stopwatch does? Ten pairs, one page of a table.

    python benchmarks/devices.py [--device cuda] [--markdown FILE]

Each pair is a slow and a fast way to do the same. The modelled column is the virtual GPU's ratio
of their times (the A100 of docs/cost-model.md); with `--device` the measured one is that of pairs
timed in turn by the protocol of docs/devices.md, on the card that is there. Without a card the
measured column says that nothing was measured.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader.devices import hardware, timing, virtual
from grader.run import Work
from tests.devices.conformance import Kernel, work

N = 1 << 20
SIDE = 1024
SETS = 8
I = "int i = blockIdx.x * blockDim.x + threadIdx.x; "  # noqa: E741 - the index of a thread


@dataclass(frozen=True)
class Pair:
    """A slow and a fast way to do the same."""

    name: str
    slow: Kernel
    fast: Kernel


def array(n: int, rng: Any) -> dict[str, np.ndarray]:
    return {"a": rng.integers(-8, 8, n).astype(np.float32)}


def two(n: int, rng: Any) -> dict[str, np.ndarray]:
    return {name: rng.integers(-8, 8, n).astype(np.float32) for name in "ab"}


def same(n: int, x: Any) -> dict[str, np.ndarray]:
    return {"out": x["a"]}


def kernel(name: str, body: str, **more: Any) -> Kernel:
    """A kernel over N elements in blocks of 256, out = a where nothing else is said."""
    known = {"inputs": array, "outputs": same, "n": N, "block": (256, 1, 1)}
    return Kernel(name, body, **{"grid": lambda n: (-(-n // 256), 1, 1), **known, **more})


def transposed(n: int, x: Any) -> dict[str, np.ndarray]:
    return {"out": x["a"].reshape(SIDE, SIDE).T.reshape(-1).copy()}


TILES = {"block": (32, 32, 1), "grid": lambda n: (32, 32, 1), "outputs": transposed}
TRANSPOSE = (
    "__shared__ float t[32][%s]; int x = blockIdx.x * 32 + threadIdx.x,"
    " y = blockIdx.y * 32 + threadIdx.y; t[threadIdx.y][threadIdx.x] = a[y * 1024 + x];"
    " __syncthreads(); x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;"
    " out[y * 1024 + x] = t[threadIdx.x][threadIdx.y];"
)
NAIVE = (
    "int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;"
    " out[x * 1024 + y] = a[y * 1024 + x];"
)


def product(n: int, x: Any) -> dict[str, np.ndarray]:
    a, b = (x[name].reshape(256, 256).astype(np.float64) for name in "ab")
    return {"out": (a @ b).astype(np.float32).reshape(-1)}


MATMUL = {
    "n": 256 * 256, "inputs": two, "outputs": product, "block": (16, 16, 1),
    "grid": lambda n: (16, 16, 1),
}  # fmt: skip


def total(n: int, x: Any) -> dict[str, np.ndarray]:
    return {"total": np.array([x["a"].sum()], np.float32)}


def with_total(n: int, rng: Any) -> dict[str, np.ndarray]:
    return {**array(n, rng), "total": np.zeros(1, np.float32)}


SUM = {"inputs": with_total, "outputs": total}


def with_bins(n: int, rng: Any) -> dict[str, np.ndarray]:
    return {**array(n, rng), "bins": np.zeros(16, np.uint32)}


def counted(n: int, x: Any) -> dict[str, np.ndarray]:
    return {"bins": np.bincount(x["a"].astype(int) & 15, minlength=16).astype(np.uint32)}


BINS = {"inputs": with_bins, "outputs": counted}
PAIRS = (
    Pair(
        "copy: strided, coalesced",
        kernel("strided", I + "int j = (i % 32768) * 32 + i / 32768; if (i < n) out[j] = a[j];"),
        kernel("coalesced", I + "if (i < n) out[i] = a[i];"),
    ),
    Pair(
        "copy: one thread in a block, all",
        kernel(
            "one",
            "if (threadIdx.x == 0) for (int k = 0; k < 256; ++k)"
            " out[blockIdx.x * 256 + k] = a[blockIdx.x * 256 + k];",
        ),
        kernel("all", I + "if (i < n) out[i] = a[i];"),
    ),
    Pair(
        "transpose: straight, through a tile",
        kernel("straight", NAIVE, **TILES),
        kernel("tile", TRANSPOSE % "33", **TILES),
    ),
    Pair(
        "transpose: tile of 32, padded to 33",
        kernel("unpadded", TRANSPOSE % "32", **TILES),
        kernel("padded", TRANSPOSE % "33", **TILES),
    ),
    Pair(
        "sum: an atomic for each element, for each warp",
        kernel("each", I + "if (i < n) atomicAdd(&total[0], a[i]);", **SUM),
        kernel(
            "warp",
            I + "float v = i < n ? a[i] : 0; for (int o = 16; o; o /= 2)"
            " v += __shfl_down_sync(0xffffffff, v, o);"
            " if (threadIdx.x % 32 == 0) atomicAdd(&total[0], v);",
            **SUM,
        ),
    ),
    Pair(
        "histogram: bins in global, in shared memory",
        kernel("global", I + "if (i < n) atomicAdd(&bins[(int)a[i] & 15], 1u);", **BINS),
        kernel(
            "shared",
            "__shared__ unsigned s[16]; " + I + "if (threadIdx.x < 16) s[threadIdx.x] = 0;"
            " __syncthreads(); if (i < n) atomicAdd(&s[(int)a[i] & 15], 1u); __syncthreads();"
            " if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);",
            **BINS,
        ),
    ),
    Pair(
        "matrix product: straight, through tiles",
        kernel(
            "straight",
            "int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;"
            " float s = 0; for (int k = 0; k < 256; ++k) s += a[y * 256 + k] * b[k * 256 + x];"
            " out[y * 256 + x] = s;",
            **MATMUL,
        ),
        kernel(
            "tiles",
            "__shared__ float p[16][16], q[16][16]; int tx = threadIdx.x, ty = threadIdx.y,"
            " x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty; float s = 0;"
            " for (int k = 0; k < 256; k += 16) { p[ty][tx] = a[y * 256 + k + tx];"
            " q[ty][tx] = b[(k + ty) * 256 + x]; __syncthreads();"
            " for (int j = 0; j < 16; ++j) s += p[ty][j] * q[j][tx]; __syncthreads(); }"
            " out[y * 256 + x] = s;",
            **MATMUL,
        ),
    ),
    Pair(
        "shared memory: stride 32, stride 1",
        kernel(
            "conflicts",
            "__shared__ float s[8192]; " + I + "int j = threadIdx.x * 32; s[j] = a[i];"
            " for (int k = 0; k < 32; ++k) { s[j] = s[j] + 1; __syncwarp(); } out[i] = s[j] - 32;",
        ),
        kernel(
            "none",
            "__shared__ float s[8192]; " + I + "int j = threadIdx.x; s[j] = a[i];"
            " for (int k = 0; k < 32; ++k) { s[j] = s[j] + 1; __syncwarp(); } out[i] = s[j] - 32;",
        ),
    ),
    Pair(
        "branches: every lane another, every warp another",
        kernel(
            "lanes",
            I + "float v = a[i]; for (int k = 0; k < 8; ++k) { if (threadIdx.x % 8 == k)"
            " for (int j = 0; j < 64; ++j) v = v * 3 - v - v; } out[i] = v;",
        ),
        kernel(
            "warps",
            I + "float v = a[i]; for (int k = 0; k < 8; ++k) { if (threadIdx.x / 32 == k)"
            " for (int j = 0; j < 64; ++j) v = v * 3 - v - v; } out[i] = v;",
        ),
    ),
    Pair(
        "records: array of structures, structure of arrays",
        kernel(
            "structures",
            I + "if (i < n / 8) { for (int k = 0; k < 8; ++k) out[i * 8 + k] = a[i * 8 + k]; }",
        ),
        kernel(
            "arrays",
            I + "if (i < n / 8) { for (int k = 0; k < 8; ++k)"
            " out[k * (n / 8) + i] = a[k * (n / 8) + i]; }",
        ),
    ),
)


def checked(kernel_: Kernel) -> float:
    """Modelled nanoseconds; the kernel must be right, or its time means nothing."""
    made, wanted = work(kernel_)
    (run,) = virtual.run([replace(made, fuel=10**10)])
    for name, expected in wanted.items():
        if not np.array_equal(run.outputs[name], expected):
            raise SystemExit(f"{kernel_.name}: {name} is wrong")
    assert run.timing is not None
    return run.timing.nanoseconds


def measured(module: Any, pair: Pair) -> str:
    """The measured ratio of a pair, with its error."""

    def works(one: Kernel) -> list[Work]:
        return [replace(work(one, seed)[0], case=f"{one.name} {seed}") for seed in range(SETS)]

    found = hardware.measure(module, works(pair.slow), works(pair.fast))
    if found.readings is None:
        return f"stopped: {found.stopped}"
    judged = timing.judge(found.readings, 0.0)
    odd = f" ({'; '.join((*judged.untrusted, *judged.remarks))})" if judged.untrusted else ""
    return f"{judged.ratio.value:.2f} ±{judged.ratio.error:.1%}{odd}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", choices=hardware.REAL)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    module = hardware.chosen(options.device, "cuda-c") if options.device else None
    where = hardware.facts(options.device).name if options.device else "no card"
    rows = [
        f"| pair (slow, fast) | modelled: slow / fast | measured on {where} |",
        "|---|---:|---:|",
    ]
    for pair in PAIRS:
        modelled = checked(pair.slow) / checked(pair.fast)
        seen = measured(module, pair) if module is not None else "not measured"
        rows.append(f"| {pair.name} | {modelled:.2f} | {seen} |")
        print(rows[-1], flush=True)
    if options.markdown is not None:
        options.markdown.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
