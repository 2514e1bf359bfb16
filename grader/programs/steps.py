"""The nine steps of a host program, read from the trace of its calls to the CUDA runtime.

Nothing is read from the text: a wrapper, a template or a macro makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.programs.run import Call
from grader.result import Step

LAUNCHES = ("<<<>>>", "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "kernel node")
_ALLOCATES = ("cudaMalloc", "cudaMallocPitch", "cudaMallocManaged")
_WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize")
_CHECKS = ("cudaGetLastError", "cudaPeekAtLastError")
_FREES = ("cudaFree", "cudaDeviceReset")


def steps(trace: Sequence[Call], inputs: int, outputs: int) -> tuple[Step, ...]:
    """Each step of a program with so many input and output arrays: done or not, and why."""
    return tuple(_steps(trace, inputs, outputs))


def _steps(trace: Sequence[Call], inputs: int, outputs: int) -> Iterator[Step]:
    worked = [(k, call) for k, call in enumerate(trace) if call.status == 0]
    launches = [(k, call) for k, call in worked if call.api in LAUNCHES]
    first = launches[0][0] if launches else len(trace)
    last = launches[-1][0] if launches else -1
    copies = [(k, call) for k, call in worked if call.api.startswith(("cudaMemcpy", "copy node"))]
    managed = any(call.api == "cudaMallocManaged" for _, call in worked)

    into = [(k, c) for k, c in copies if _into(c) and k < first]
    out_of = [(k, c) for k, c in copies if c.kind == "cudaMemcpyDeviceToHost" and k > last >= 0]
    yield _step(
        "host", managed or (bool(into) and any(_out(c) for _, c in copies)), _line(into),
        f"no copy between host and device arrays was seen{_refused(trace, out=None)}",
    )  # fmt: skip
    made = {c.buffer: c for _, c in worked if c.api in _ALLOCATES}
    used = {name for _, call in launches for name in call.buffers}
    wanted = inputs + outputs
    enough = len(made) >= wanted and used <= set(made)
    yield _step(
        "allocated", enough, next((c.line for c in made.values()), None),
        f"expected {_counted(wanted)} on the device, found {len(made)}",
    )  # fmt: skip
    filled = {c.buffer for _, c in into}
    yield _step(
        "copied_in", managed or len(filled) >= inputs, _line(into),
        f"expected {_counted(inputs)} copied to the device before the first launch, "
        f"found {len(filled)}{_refused(trace, out=False)}",
    )  # fmt: skip
    small = [c for _, c in launches if (c.threads or 0) < (c.largest_elements or 0)]
    short = small[0] if small else None
    yield _step(
        "covered", bool(launches) and short is None, _line(launches),
        f"line {short.line} launches {short.threads} threads for {short.largest_elements} elements"
        if short else "no launch was seen",
    )  # fmt: skip
    refused = next((c for c in trace if c.api in LAUNCHES and c.status), None)
    yield _step(
        "launched", bool(launches) and refused is None, _line(launches),
        f"CUDA refused the launch in line {refused.line}" if refused else "no launch was seen",
    )  # fmt: skip
    checks = [(k, c) for k, c in enumerate(trace) if c.api in _CHECKS and k > last >= 0]
    yield _step(
        "checked", bool(checks), _line(checks),
        "no cudaGetLastError() after the launch" if launches else "no launch was seen",
    )  # fmt: skip
    taken = out_of[0][0] if out_of else len(trace)
    waits = [(k, c) for k, c in worked if c.api in _WAITS and last < k < taken and last >= 0]
    yield _step(
        "synchronised", bool(waits), _line(waits),
        "no cudaDeviceSynchronize() between the launch and the copy of the result"
        if launches else "no launch was seen",
    )  # fmt: skip
    emptied = {c.buffer for _, c in out_of}
    yield _step(
        "copied_out", (managed and bool(waits)) or len(emptied) >= outputs, _line(out_of),
        f"expected {_counted(outputs)} copied to the host after the launch, found {len(emptied)}"
        f"{_refused(trace, out=True)}",
    )  # fmt: skip
    frees = [(k, c) for k, c in worked if c.api in _FREES]
    freed = {c.address for _, c in frees if c.address is not None}
    allocated = {c.address for c in made.values()}
    reset = any(c.api == "cudaDeviceReset" for _, c in frees)
    left = sorted(str(name) for name, c in made.items() if c.address not in freed)
    yield _step(
        "freed", bool(allocated) and (reset or allocated <= freed), _line(frees),
        f"never freed: {', '.join(left)}" if left else "nothing was allocated",
    )  # fmt: skip


def _refused(trace: Sequence[Call], *, out: bool | None) -> str:
    """That a copy was there and copied nothing: to the host, to the device, or either."""
    for call in trace:
        copies = call.api.startswith("cudaMemcpy") and call.status != 0
        if copies and (out is None or out == (call.kind == "cudaMemcpyDeviceToHost")):
            return f"; the one in line {call.line} was refused"
    return ""


def _counted(arrays: int) -> str:
    return f"{arrays} array{'s' * (arrays != 1)}"


def _into(call: Call) -> bool:
    return call.kind in ("cudaMemcpyHostToDevice", "cudaMemcpyDefault") and call.buffer is not None


def _out(call: Call) -> bool:
    return call.kind in ("cudaMemcpyDeviceToHost", "cudaMemcpyDefault")


def _line(calls: Sequence[tuple[int, Call]]) -> int | None:
    return calls[0][1].line if calls else None


def _step(name: str, ok: bool, line: int | None, why: str) -> Step:
    return Step(name=name, ok=ok, line=line if ok else None, why="done" if ok else why)
