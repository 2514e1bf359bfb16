"""What reports say about notes: the points of a claim; yours and theirs, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from grader.result import CodeLine, NoteClaim, Notes, Structure

Row = tuple[str, ...]
LINES_SHOWN = 3


def points(claim: NoteClaim) -> str:
    """`1.5 of 3 points`, or nothing for a claim that has none."""
    if not claim.out_of:
        return ""
    from grader.score import CLAIM_SHARE  # with every assignment's schema: 20 ms

    earned = float(claim.out_of * CLAIM_SHARE[claim.verdict])
    return f"{earned:g} of {claim.out_of} point{'s' if claim.out_of != 1 else ''}"


def rows(notes: Notes) -> tuple[Row, ...]:
    """A heading row and one row for each question; empty where there is nothing to compare."""
    if not notes.yours or not notes.theirs:
        return ()
    kernels = [*notes.yours, *notes.theirs]
    yours = [f"yours: {one.name}" for one in notes.yours]
    names = [*yours, *(f"theirs: {one.name}" for one in notes.theirs)]
    return (
        ("", *names),
        ("global id", *map(global_id, kernels)),
        ("bounds check", *map(bounds_check, kernels)),
        ("per element", *map(operation, kernels)),
        ("elements per thread", *map(elements, kernels)),
    )


def global_id(kernel: Structure) -> str:
    """Whether addresses are made from block and thread ids."""
    if kernel.stores_with_id == 0:
        return "not from block and thread ids"
    where = _at(kernel.global_id_lines)
    if kernel.stores_with_id < kernel.stores:
        return f"in {kernel.stores_with_id} of {kernel.stores} stores{where}"
    return f"from block and thread ids{where}"


def bounds_check(kernel: Structure) -> str:
    """How many stores wait for a comparison of an index with a size."""
    if kernel.stores_guarded == 0:
        return "none"
    where = _at(kernel.bounds_check_lines)
    if kernel.stores_guarded < kernel.stores:
        return f"{kernel.stores_guarded} of {kernel.stores} stores{where}"
    return f"every store{where}"


def operation(kernel: Structure) -> str:
    """The floating-point operations that make one element."""
    counted = (
        (kernel.adds, "add"),
        (kernel.fmas, "FMA"),
        (kernel.other_operations, "other operation"),
    )
    said = [f"{n} {word}{'s' if n > 1 else ''}" for n, word in counted if n]
    return (", ".join(said) or "no floating-point operation") + _at(kernel.operation_lines)


def elements(kernel: Structure) -> str:
    """How many elements one thread stores."""
    if not kernel.in_loop:
        return str(kernel.elements_per_thread)
    return f"{kernel.elements_per_thread}, and there is a loop"


def _at(lines: Iterable[CodeLine]) -> str:
    """`, vec_add.cu:3` and so on; lines of one file share its name."""
    by_file: dict[str, list[int]] = {}
    for line in list(lines)[:LINES_SHOWN]:
        by_file.setdefault(line.file, []).append(line.line)
    shown = [f"{file}:{','.join(map(str, found))}" for file, found in by_file.items()]
    return f" ({'; '.join(shown)})" if shown else ""
