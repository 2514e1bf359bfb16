"""Words a finding for a student of Triton: programs, offsets and masks instead of threads.

The facts stay as the virtual GPU reported them; only `message` and `advice` change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.assignment_schema import Case
from grader.cases import Inputs
from grader.languages import Artefact, Contract, Variant, triton_ptx
from grader.languages.triton_races import COPIES
from grader.languages.triton_source import Kernel, Memory, kernels
from grader.result import CaseResult, Fault, Mismatch
from grader.run import Task, geometry

_ITEM_BYTES = {"1": 1, "8": 1, "16": 2, "32": 4, "64": 8}
_WRAPPED = 1 << 29
"""An index this far outside any buffer we allocate is an int32 that wrapped around."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch a finding belongs to.

    `source` is the student's text, `grid` the number of programs per axis, `arguments` what was
    passed for each of the contract's parameters: the names of the assignment's buffers and scalars.
    `optional` are those of them that a kernel need not use.
    """

    source: str
    contract: Contract
    variant: Variant
    grid: tuple[int, ...]
    arguments: tuple[str, ...]
    optional: tuple[str, ...] = ()


def advise(fault: Fault, launch: Launch) -> Fault:
    """The fault in Triton's terms, with what to write instead; as it was if there are no words."""
    kernel = kernels(launch.source).get(launch.contract.kernel)
    speak = _SPEAKERS.get(fault.kind)
    if kernel is None or speak is None:
        return fault
    return speak(_Scene(fault, kernel, launch))


def advise_mismatch(mismatch: Mismatch, launch: Launch) -> Mismatch:
    """The mismatch with what usually causes it in Triton, where the source shows a cause."""
    kernel = kernels(launch.source).get(launch.contract.kernel)
    if kernel is None:
        return mismatch
    advice = (
        _one_program(kernel, launch.variant, launch.grid)
        or _tf32(kernel, launch.contract, mismatch)
        or _unused(kernel, launch)
    )
    return mismatch.model_copy(update={"advice": advice}) if advice else mismatch


def word(
    graded: Sequence[CaseResult], task: Task, artefact: Artefact, build: str, source: str
) -> list[CaseResult]:
    """The cases of one build (an autotune choice) with what was found in Triton's words."""
    by_name = {case.name: (case, data) for case, data in task.cases}
    return [
        _worded(case, _launches(by_name[case.name], task, artefact, build, source))
        for case in graded
    ]


def _launches(
    of: tuple[Case, Inputs], task: Task, artefact: Artefact, build: str, source: str
) -> list[Launch]:
    case, data = of
    ready, _ = geometry(task, artefact, build, case, data)
    contracts = {contract.kernel: contract for contract in task.contracts}
    optional = tuple(b.name for b in task.assignment.buffers if b.role == "scratch")
    compiled = {kernel: v for v in artefact.variants for kernel in v.entries if v.name == build}
    return [
        Launch(
            source=source,
            contract=contracts[launch.kernel],
            variant=compiled[launch.kernel],
            grid=launch.grid,
            arguments=tuple(argument.name for argument in launch.arguments),
            optional=optional,
        )
        for launch in ready
    ]


def _worded(case: CaseResult, launches: list[Launch]) -> CaseResult:
    if not launches:
        return case
    faults = tuple(advise(fault, _launch_of(fault, launches)) for fault in case.faults)
    mismatch = case.mismatch
    if mismatch is not None:
        writers = [launch for launch in launches if mismatch.output in launch.arguments]
        mismatch = advise_mismatch(mismatch, (writers or launches)[-1])
    return case.model_copy(update={"faults": faults, "mismatch": mismatch})


def _launch_of(fault: Fault, launches: list[Launch]) -> Launch:
    """The launch of the kernel that holds the fault's line; the last one where none does."""
    for launch in launches:
        kernel = kernels(launch.source).get(launch.contract.kernel)
        if kernel and fault.line and kernel.line <= fault.line <= kernel.end_line:
            return launch
    return launches[-1]


class _Scene:
    """A fault with what its source line says."""

    def __init__(self, fault: Fault, kernel: Kernel, launch: Launch) -> None:
        self.fault, self.kernel = fault, kernel
        self.variant, self.grid = launch.variant, launch.grid
        parameters = launch.contract.parameters
        types = [p.type for p in parameters if not p.type.endswith("constexpr")]
        self.own_names = dict(zip(launch.arguments, kernel.arguments, strict=False))
        self.types = dict(zip(launch.arguments, types, strict=False))
        self.call = self._call()

    def _call(self) -> Memory | None:
        """The memory call on the fault's line: that of its buffer and access, else the only one."""
        line = self.fault.line
        here = [m for m in self.kernel.memory if line and m.line <= line <= m.end_line]
        of_buffer = [m for m in here if m.base == self.own_names.get(self.fault.buffer or "")]
        for calls in (of_buffer, here):
            same = [m for m in calls if m.access == self.fault.access]
            if len(same) == 1:
                return same[0]
        return None

    @property
    def tensor(self) -> str:
        """The buffer by the student's name for it, then by the assignment's."""
        buffer = self.fault.buffer or "memory"
        own = self.own_names.get(buffer)
        return f"`{own}` ({buffer})" if own and own != buffer else f"`{buffer}`"

    @property
    def operation(self) -> str:
        """What the student wrote: a load, a store, or the atomic's name."""
        if self.call is not None and self.call.access == "atomic":
            return f"tl.{self.call.operation}"
        return {"read": "load", "write": "store", "atomic": "atomic"}.get(
            self.fault.access or "", "access"
        )

    @property
    def program(self) -> str:
        """Which program instance did it first."""
        return _program(self.fault.block, self.grid)

    @property
    def vector(self) -> int:
        """Elements that one lane moves at a time."""
        kind = self.types.get(self.fault.buffer or "", "")
        width = re.search(r"(\d+)$", kind)
        item = _ITEM_BYTES.get(width[1], 1) if width else 1
        return max(1, (self.fault.size_bytes or item) // item)

    @property
    def elements(self) -> int:
        """Elements touched by the lanes that went wrong."""
        return self.fault.count * self.vector

    @property
    def bound(self) -> str | None:
        """The student's name of the one integer argument, if there is one: it bounds offsets."""
        integers = [
            self.own_names[name]
            for name, kind in self.types.items()
            if not kind.startswith("*")
            and kind[0] in "iu"
            and name in self.own_names
            and "stride" not in self.own_names[name].lower()
        ]
        return integers[0] if len(integers) == 1 else None


def _program(block: tuple[int, int, int] | None, grid: tuple[int, ...]) -> str:
    if block is None:
        return "a program"
    axes = max((i + 1 for i, size in enumerate(grid) if size > 1), default=1)
    return f"program {block[0]}" if axes == 1 else f"program {tuple(block[:axes])}"


# ---- one function per kind of fault -------------------------------------------------------------


def _out_of_bounds(scene: _Scene) -> Fault:
    fault, index, extent = scene.fault, scene.fault.index, scene.fault.extent
    if fault.space not in (None, "global") or index is None or extent is None:
        return fault
    before = index < 0
    where = "before its start" if before else "past its end"
    message = (
        f"{scene.operation} of {scene.tensor} {where}: "
        f"{_outside(scene, index, extent)}; it has {extent})"
    )
    return fault.model_copy(update={"message": message, "advice": _bound_advice(scene, before)})


def _outside(scene: _Scene, index: int, extent: int) -> str:
    """Which elements lie outside, and how many where one program's block runs over.

    The virtual GPU counts lanes and names the first that went wrong; a lane that moves a vector may
    start inside, warps do not go in order of offsets, and a block smaller than the program's
    threads is counted again by every spare one.
    """
    elements, vector = scene.elements, scene.vector
    blocks = [v for name, v in scene.variant.constants.items() if "BLOCK" in name.upper()]
    size = blocks[0] if len(blocks) == 1 else None
    block = scene.fault.block
    if size and block and index >= 0:
        start, end = block[0] * size, (block[0] + 1) * size
        first = max(start, extent)
        if start <= index < end and 0 <= elements - (end - first) < vector:
            if first == end - 1:
                return f"1 element ({scene.program}, offset {first}"
            return f"{end - first} elements ({scene.program}, offsets {first} to {end - 1}"
    if 0 <= index < extent:
        elements, index = elements - (extent - index), extent
    if elements == 1:
        return f"1 element ({scene.program}, offset {index}"
    return f"offset {index} ({scene.program}"


def _bound_advice(scene: _Scene, before: bool) -> str:
    index, extent, call = scene.fault.index or 0, scene.fault.extent or 0, scene.call
    if abs(index - extent) >= _WRAPPED:
        return (
            "An offset this far away has usually wrapped around: Triton computes in int32. "
            "Widen one factor before the product: `row.to(tl.int64) * stride`."
        )
    if call is None:
        return "Give the load or store a `mask=` that keeps its offsets inside the tensor."
    offsets = call.offsets or "offs"
    if call.lanes == "one":
        side = "at least 0" if before else f"less than {extent}, the length of {scene.tensor} here"
        return (
            f"`{offsets}` is one number for the whole program: see that it is {side}, where it "
            "is computed or by a `mask=`."
        )
    if before:
        return f"Mask the low side too: `mask=({offsets}) >= 0`, joined to the other with `&`."
    if call.mask is None:
        if scene.bound and len(offsets) <= 40:
            return f"Add `mask={offsets} < {scene.bound}`."
        return "Add a `mask=` with one comparison per axis: `(rows < M) & (cols < N)`."
    condition = call.condition or call.mask
    if "<=" in condition:
        return f"The mask `{condition}` lets the length itself through: write `<` for `<=`."
    if call.unmasked:
        moving = ", ".join(f"`{name}`" for name in call.unmasked[:3])
        return (
            f"The mask `{condition}` is true there: the offset also moves with {moving}, which "
            f"nothing keeps within {scene.tensor} (its length is {extent} here)."
        )
    for axis in ("[:, None]", "[None, :]"):
        if axis in offsets and axis not in condition and "None" in condition:
            return (
                f"The mask `{condition}` compares one axis, the offsets have two: join a "
                "comparison for each, as in `(rows < M)[:, None] & (cols < N)[None, :]`."
            )
    return (
        f"The mask `{condition}` is true at offset {index}: compare `{offsets}` with the length "
        f"of {scene.tensor}, which is {extent} here."
    )


def _uninitialised(scene: _Scene) -> Fault:
    fault = scene.fault
    masked = [m for m in scene.kernel.memory
              if m.access == "read" and m.mask is not None and not m.has_other]  # fmt: skip
    undefined = triton_ptx.UNDEFINED in f"{fault.buffer} {fault.message}"
    # What passed between threads is said to come from the compiler's own shared memory, or from
    # nowhere; only such a load, or a buffer with a name, can have brought it in.
    if not undefined and (fault.buffer in scene.own_names or not masked):
        return fault
    call = (scene.call if undefined else None) or next(iter(masked), None)
    base = call.base if call else None
    names = {own: name for name, own in scene.own_names.items()}
    of = f" of `{base}`" if base else ""
    mask = f" `{call.condition}`" if call and call.condition else ""
    return fault.model_copy(
        update={
            "buffer": names.get(base or "", base),
            "space": "global",
            "message": f"lanes beyond the mask{mask} reach the result: the load{of} has no "
            f"`other`, so their values are undefined ({scene.program})",
            "advice": "State what lies beyond the mask: `other=0.0` for a sum, "
            '`other=-float("inf")` for a maximum.',
        }
    )


def _race(scene: _Scene) -> Fault:
    fault = scene.fault
    other = fault.other
    if other is None or other.block is None or fault.block is None or other.block == fault.block:
        return _race_within(scene)
    message = (
        f"{_program(fault.block, scene.grid)} and {_program(other.block, scene.grid)} both touch "
        f"element {fault.index} of {scene.tensor}: a {fault.access} and a {other.access} in no "
        "fixed order"
    )
    cause = _one_program(scene.kernel, scene.variant, scene.grid)
    remedy = (
        "If programs add to one place, use `tl.atomic_add`; otherwise give each program offsets "
        "of its own, such as `pid * BLOCK + tl.arange(0, BLOCK)`."
    )
    return fault.model_copy(update={"message": message, "advice": cause or remedy})


def _race_within(scene: _Scene) -> Fault:
    """A race between the threads of one program: elements of blocks, in a student's words."""
    fault, other = scene.fault, scene.fault.other
    advice = (
        "The elements of a block are handled in any order: put `tl.debug_barrier()` between the "
        "store and the load of the same memory, or keep the value in a variable."
    )
    if other is None or fault.index is None:
        return fault.model_copy(update={"advice": advice})
    element = f"element {fault.index} of {scene.tensor}"
    elsewhere = f" on line {other.line}" if other.line and other.line != fault.line else ""
    if fault.access == other.access == "write" and not elsewhere:
        message = f"lanes of one store have the same offset: {element}"
        advice = (
            "Only one of the values stays, and which is not fixed: add with `tl.atomic_add`, or "
            "give each lane an offset of its own."
        )
    else:
        message = f"a {fault.access} here and a {other.access}{elsewhere} touch {element}"
        if not elsewhere and other.line:
            advice = (
                f"One program comes to the same element of {scene.tensor} more than once: a loop "
                "over blocks steps by whole blocks, `tl.num_programs(0) * BLOCK`, so that each "
                "element has one owner."
            )
    advice = _one_program(scene.kernel, scene.variant, scene.grid) or advice
    same = "; all store the same value" if "same value" in fault.message else ""
    copies = f": {COPIES}" if COPIES in fault.message else ""
    message += f" in no fixed order ({scene.program}){same}{copies}"
    return fault.model_copy(update={"message": message, "advice": advice})


def _misaligned(scene: _Scene) -> Fault:
    return scene.fault.model_copy(
        update={
            "advice": "`tl.multiple_of` or `tl.max_contiguous` promises more than the offsets keep."
        }
    )


def _assertion(scene: _Scene) -> Fault:
    return scene.fault.model_copy(
        update={"advice": f"`tl.device_assert` failed in {scene.program}."}
    )


_SPEAKERS: dict[str, Callable[[_Scene], Fault]] = {
    "out_of_bounds": _out_of_bounds,
    "uninitialised": _uninitialised,
    "race": _race,
    "misaligned": _misaligned,
    "assertion": _assertion,
}


# ---- causes a source shows ----------------------------------------------------------------------


def _one_program(kernel: Kernel, variant: Variant, grid: tuple[int, ...]) -> str | None:
    programs = 1
    for size in grid:
        programs *= size
    if programs <= 1 or kernel.reads_program_id:
        return None
    if any(triton_ptx.reads_program_id(variant.ptx, axis) for axis in range(3)):
        return None
    return (
        f"{kernel.name} never reads `tl.program_id(0)`, though {programs} programs run it: "
        "all of them work on the same offsets. Start from `tl.program_id(0) * BLOCK`."
    )


def _tf32(kernel: Kernel, contract: Contract, mismatch: Mismatch) -> str | None:
    """An fp32 `tl.dot` rounds its inputs to 11 significant bits unless told otherwise."""
    asked = [line for line, precision in kernel.dots if precision is None]
    expected, actual = mismatch.expected, mismatch.actual
    if not asked or not any(p.type == "*fp32" for p in contract.parameters):
        return None
    if not (isinstance(expected, int | float) and isinstance(actual, int | float)):
        return None
    if abs(expected - actual) > 0.02 * max(1.0, abs(expected)):
        return None
    return (
        f"`tl.dot` on line {asked[0]} multiplies fp32 as tf32, with 10 bits of fraction. "
        'Ask for full precision: `tl.dot(a, b, acc, input_precision="ieee")`.'
    )


def _unused(kernel: Kernel, launch: Launch) -> str | None:
    given = dict(zip(kernel.arguments, launch.arguments, strict=False))
    unused = [
        name
        for name in kernel.arguments
        if name in kernel.unused and given.get(name) not in launch.optional
    ]
    if not unused:
        return None
    strides = [name for name in unused if "stride" in name]
    if strides:
        return (
            f"`{strides[0]}` is never used: rows of a view need not lie a row's length apart. "
            f"Multiply the row index by `{strides[0]}`."
        )
    return f"`{unused[0]}` is never used in {kernel.name}."
