"""What a run child does: PTX and the inputs of a case in, outputs and findings out.

Runs in a sandboxed process that knows nothing of what is expected.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Generator, Iterable
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from grader import vgpu
from grader.devices.cuda_ptx import PROBE
from grader.vgpu import cost, native

ACCESS: dict[str, Literal["in", "out", "inout", "scratch"]] = {
    "input": "in",
    "output": "out",
    "inout": "inout",
    "scratch": "scratch",
}

MOST_FAULTS, MOST_LINES, MOST_CHARACTERS = 1000, 3000, 300
"""What an answer has room for: findings of all launches, errors first; the lines that cost most;
characters of a name or a message, since a name may be as long as a file."""

Answered = tuple[dict[str, Any], list[bytes]]


def run_job(request: dict[str, Any], blobs: list[bytes]) -> Generator[Answered, None, Answered]:
    """In the child: run every work, and answer each as soon as it ended."""
    if not use_cache(request["cache"]):
        return {"needs": "runtime"}, []
    spent: set[str] = set()
    for work in request["works"]:
        started = time.perf_counter()
        if work["case"] in spent or (work["large"] and spent):
            answer: Answered = _Total(0).answer("skipped", ""), []
        else:
            answer = run(work, blobs, request["printed_characters"])
        header, outputs = answer
        if header["ended"] == "fuel":
            spent.add(work["case"])
        yield {**header, "work": work["work"], "seconds": time.perf_counter() - started}, outputs
    return made()


def probe_job(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: run a kernel of one thread that stores 1 + 2."""
    if not use_cache(request["cache"]):
        return {"needs": "runtime"}, []
    return {"sum": probe()}, []


def run(work: dict[str, Any], blobs: list[bytes], printed_characters: int) -> Answered:
    """Run the launches of one work in order, until one does not finish."""
    memory = vgpu.Memory()
    pointers = {b["name"]: _allocate(memory, b, blobs) for b in work["buffers"]}
    total = _Total(printed_characters)
    written = [b["name"] for b in work["buffers"] if b["role"] in ("output", "inout")]
    for launch in work["launches"]:
        if 0 in launch["grid"]:
            continue  # a zero-sized launch does nothing; `grade run` refuses it as CUDA does
        try:
            module = _module(blobs[launch["ptx"]])
            kernel = module.kernel(launch["entry"])
            done = vgpu.launch(
                kernel,
                tuple(launch["grid"]),
                tuple(launch["block"]),
                [_argument(argument, pointers) for argument in launch["arguments"]],
                shared=launch["shared_bytes"],
                memory=memory,
                checks=work["checks"],
                fuel=work["fuel"],
                order=work["order"],
                threads=launch["threads"],
            )
        except vgpu.PtxError as error:
            return total.answer("unsupported", f"the virtual GPU cannot read the PTX: {error}"), []
        except vgpu.LaunchError as error:
            return total.answer("refused", str(error)), []
        given = {argument["buffer"] for argument in launch["arguments"]}
        total.add(done, launch["registers"], [name for name in written if name in given])
        if done.ended != "finished":
            break
    outputs: list[bytes] = []
    names = []
    for buffer in work["buffers"]:
        wanted = work["values"] and total.ended == "finished"
        if wanted and buffer["role"] in ("output", "inout"):
            pointer = pointers[buffer["name"]]
            names.append(buffer["name"])
            outputs.append(np.ascontiguousarray(memory.read(pointer)).tobytes())
            outputs.append(np.packbits(memory.written(pointer).reshape(-1)).tobytes())
    return {**total.answer(total.ended, total.reason), "outputs": names}, outputs


def use_cache(root: str) -> bool:
    """Read native code below `root` from now on; False where the engine's runtime is not there."""
    os.environ["GRADE_CACHE"] = root
    return all(native.find(key) is not None for key in native.runtime_keys())


def prime(root: str) -> None:
    """Load the engine's runtime and LLVM, before children are forked; never an error."""
    with contextlib.suppress(Exception):
        if use_cache(root):
            probe()
            native.take_fresh()


def made() -> tuple[dict[str, Any], list[bytes]]:
    """The native code made since the start, for the parent to keep."""
    fresh = native.take_fresh()
    return {"fresh": list(fresh)}, list(fresh.values())


def probe() -> int:
    """1 + 2, by the virtual GPU."""
    memory = vgpu.Memory()
    out = memory.allocate(np.zeros(1, np.int32), name="out", access="out")
    vgpu.launch(vgpu.Module.from_ptx(PROBE).kernel("probe"), 1, 1, [out], memory=memory)
    return int(memory.read(out)[0])


@functools.cache
def _module(text: bytes) -> vgpu.Module:
    return vgpu.Module.from_ptx(text.decode())


def _allocate(memory: vgpu.Memory, buffer: dict[str, Any], blobs: list[bytes]) -> vgpu.Pointer:
    shape, dtype = tuple(buffer["shape"]), np.dtype(buffer["dtype"])
    given = buffer["blob"] is not None
    array = (
        np.frombuffer(blobs[buffer["blob"]], dtype).reshape(shape)
        if given
        else np.zeros(shape, dtype)
    )
    return memory.allocate(array, name=buffer["name"], access=ACCESS[buffer["role"]], defined=given)


def _argument(argument: dict[str, Any], pointers: dict[str, vgpu.Pointer]) -> Any:
    if argument["buffer"] is not None:
        return pointers[argument["buffer"]]
    if argument["data"] is None:
        return np.uint64(0)
    return np.frombuffer(bytes.fromhex(argument["data"]), argument["dtype"])[0]


class _Total:
    """The sum over the launches of a work."""

    def __init__(self, printed_characters: int) -> None:
        self.printed_characters = printed_characters
        self.ended = "finished"
        self.reason = ""
        self.faults: list[dict[str, Any]] = []
        self.counts: dict[str, float] = {}
        self.lines: dict[tuple[str | None, int], dict[str, float]] = {}
        self.stores: dict[tuple[str | None, int], dict[str, None]] = {}
        self.printed = ""
        self.nanoseconds = 0.0
        self.longest = 0.0
        self.bound = ""
        self.parts: dict[str, float] = {}

    def add(self, done: vgpu.Launch, registers: int | None, outputs: Iterable[str]) -> None:
        """Add a launch whose kernel was given the buffers `outputs` to write to."""
        self.ended, self.reason = done.ended, done.reason
        self.faults += [asdict(fault) for fault in done.faults]
        _sum(self.counts, done.metrics.counts)
        time = cost.estimate(done.metrics.counts, registers=registers)
        self.nanoseconds += time.nanoseconds
        _sum(self.parts, time.parts)
        if time.nanoseconds > self.longest:
            self.longest, self.bound = time.nanoseconds, time.bound
        for place, counts in done.metrics.lines.items():
            _sum(self.lines.setdefault(place, {}), counts)
            if counts.get("global_store_requests") or counts.get("atomics"):
                self.stores.setdefault(place, {}).update(dict.fromkeys(outputs))
        self.printed = (self.printed + done.printed)[: self.printed_characters]

    def answer(self, ended: str, reason: str) -> dict[str, Any]:
        lines = sorted(self.lines.items(), key=lambda item: (item[0][0] or "", item[0][1]))
        if len(lines) > MOST_LINES:
            costs = [counts.get("warp_instructions", 0.0) for _, counts in lines]
            least = sorted(costs)[-MOST_LINES]
            kept = [item for item, it in zip(lines, costs, strict=True) if it >= least]
            lines = kept[:MOST_LINES]
        faults = self.faults
        if len(faults) > MOST_FAULTS:
            faults = sorted(faults, key=lambda f: f["severity"] != "error")[:MOST_FAULTS]
        return {
            "ended": ended,
            "reason": _cut(reason),
            "faults": _cut(faults),
            "counts": self.counts,
            "nanoseconds": self.nanoseconds,
            "bound": self.bound,
            "parts": self.parts,
            "roof": [cost.A100.dram_bytes_per_second, cost.A100.peak_flops],
            "lines": [
                {
                    "file": _cut(place[0]),
                    "line": place[1],
                    "counts": counts,
                    "stores_to": _cut(list(self.stores.get(place, ()))),
                }
                for place, counts in lines
            ],
            "printed": self.printed,
            "outputs": [],
        }


def _cut(value: Any) -> Any:
    """Words of a JSON value, each cut to a length that an answer has room for."""
    if isinstance(value, str):
        return value[:MOST_CHARACTERS]
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    return [_cut(inner) for inner in value] if isinstance(value, list | tuple) else value


def _sum(into: dict[str, float], more: dict[str, float]) -> None:
    for name, value in more.items():
        into[name] = into.get(name, 0.0) + value
