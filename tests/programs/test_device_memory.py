"""Allocations bear the names and the element sizes that the program's source gives them."""

from __future__ import annotations

import numpy as np
import pytest

from grader.programs.device_memory import LARGE_BYTES, DeviceMemory, Site, merge
from tests.programs.running import needs_host, outcome


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


LARGE = """#include <cstdio>
__global__ void touch(float* x, size_t n) { x[n - 1] = 1; }
int main() {
  for (int k = 0; k < 3; ++k) {
    float *x, two[2];
    size_t n = 3ull << 28, free, total;
    if (cudaMalloc(&x, n * 4)) return 1;
    touch<<<1, 1>>>(x, n);
    if (cudaMemcpy(two, x + n - 1, 4, cudaMemcpyDeviceToHost)) return 2;
    cudaMemGetInfo(&free, &total);
    if (k == 2) printf("%g %zu %zu", two[0], free >> 20, total >> 20);
    cudaFree(x);
  }
}
"""


@needs_host
def test_memory_that_nothing_touches_costs_nothing() -> None:
    """Three times 3 GiB: more than the machine would give, were it not for what is untouched."""
    found = outcome(LARGE)
    assert (found.answer.ended, found.answer.code, found.answer.faults) == ("exited", 0, ())
    assert found.stdout == "1 1024 4096"


@needs_host
def test_a_copy_that_is_too_large_to_serve_is_named() -> None:
    text = """#include <cstdlib>
int main() {
  size_t n = 1100ull << 20;
  char* x;
  cudaMalloc(&x, n);
  cudaMemcpy(x, malloc(n), n, cudaMemcpyHostToDevice);
}
"""
    answer = outcome(text).answer
    assert answer.ended == "unsupported"
    assert answer.stopped_reason.startswith("a copy of 1,100 MiB at once in program.cu:6 ")


def test_what_a_large_allocation_knew_is_kept_when_it_is_freed() -> None:
    memory = DeviceMemory({})
    site = Site("p.cu", 1)
    known = []
    for where in (None, 5, LARGE_BYTES + 1):
        one = memory.allocate(LARGE_BYTES + 2, "device", site)
        assert one is not None and one.storage.init is not None
        if where is not None:
            one.storage.init[where] = 1
        one.emptied.append((6, site))
        before = one.known_beyond(6)
        memory.free(one, site)
        assert one.storage.data.size == 0 and one.size == LARGE_BYTES + 2
        known.append((before, one.known_beyond(6)))
    assert known == [(False, False), (False, False), (True, True)]


def test_marks_are_merged_over_all_pieces() -> None:
    into, marks = np.zeros((1 << 21) + 7, np.uint8), np.zeros((1 << 21) + 7, np.uint8)
    into[[0, 1 << 20]] = 1
    marks[[3, -1]] = 1
    merge(into, marks)
    assert np.flatnonzero(into).tolist() == [0, 3, 1 << 20, (1 << 21) + 6]


HEAP = """
struct Node { float value; Node* next; };
__device__ Node* head;
__global__ void make(int all) { head = new Node; head->next = nullptr; if (all) head->value = 2; }
__global__ void fill() { head->value = 3; }
__global__ void use(float* out) { *out = head->value + 1; }  // USED
__global__ void drop() { delete head; }
int main(int count, char**) {
  float* out;
  cudaMalloc(&out, 4);
  make<<<1, 1>>>(count == 2);
  if (count == 3) fill<<<1, 1>>>();
  use<<<1, 1>>>(out);
  drop<<<1, 1>>>();
  cudaFree(out);
  return cudaDeviceSynchronize();
}
"""


@needs_host
@pytest.mark.parametrize("arguments", [[], ["written at once"], ["written", "later"]])
def test_heap_memory_that_no_kernel_wrote_is_found_by_a_later_one(arguments: list[str]) -> None:
    answer = outcome(HEAP, arguments=arguments).answer
    found = [(f.kind, f.line) for f in answer.faults if f.severity == "error"]
    line = HEAP[: HEAP.index("// USED")].count("\n") + 1
    assert found == ([] if arguments else [("uninitialised", line)])
