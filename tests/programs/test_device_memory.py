"""Allocations bear the names and the element sizes that the program's source gives them."""

from __future__ import annotations

from grader.programs.device_memory import DeviceMemory, Site


def made(source: str, *lines: int) -> list[tuple[str, int]]:
    """Name and bytes of an element of a kilobyte allocated on each of the lines."""
    memory = DeviceMemory({"p.cu": source.splitlines()})
    found = [memory.allocate(1024, "device", Site("p.cu", line)) for line in lines]
    return [(one.name, one.storage.itemsize) for one in found if one is not None]


def test_several_allocations_on_a_line_in_turn() -> None:
    source = "float *dx; double *dy;\ncudaMalloc(&dx, n); cudaMalloc((void **)&dy, m);"
    assert made(source, 2, 2) == [("dx", 4), ("dy", 8)]
    assert made(source, 2, 2, 2, 2)[2:] == [("dx", 4), ("dy", 8)]  # the next round of a loop


def test_the_type_of_a_pointer_declared_behind_a_call() -> None:
    source = "double *x = (double*)malloc(n * sizeof(double)), *dx;\ncudaMalloc(&dx, n);"
    assert made(source, 2) == [("dx", 8)]
    assert made("void f(short *dx) {\ncudaMalloc(&dx, n);", 2) == [("dx", 2)]


def test_what_the_source_does_not_say() -> None:
    assert made("a();\nb();", 2, 7) == [("allocation 1", 1), ("allocation 2", 1)]
