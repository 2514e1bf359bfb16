"""Local arrays from the debug information of an unoptimised build."""

import pytest

from grader.languages import cuda_c, nvrtc
from grader.vgpu.debug_info import LocalVariable, local_variables
from grader.vgpu.parse import parse

MISSING = cuda_c.missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"CUDA C: {MISSING}")


def compile_text(text: str, option: str) -> str:
    options = ("-arch=compute_80", "-std=c++17", option)
    return nvrtc.compile_source(text, "k.cu", options).ptx


SOURCE = """
struct Pair { int a; float b[3]; };
extern "C" __global__ void k(int* out, int i) {
    int values[4] = {1, 2, 3, 4};
    double table[2][3];
    Pair pair;
    for (int j = 0; j < 6; j++) table[j / 3][j % 3] = j;
    for (int j = 0; j < 3; j++) pair.b[j] = j;
    pair.a = i;
    out[0] = values[i] + (int)table[i & 1][i % 3] + pair.a + (int)pair.b[i % 3];
}
"""


@pytest.fixture(scope="module")
def ptx() -> str:
    return compile_text(SOURCE, "-G")


def test_arrays_and_structures_have_names_and_sizes(ptx: str) -> None:
    (found,) = local_variables(parse(ptx)).values()
    assert {(v.name, v.size) for v in found} == {("values", 16), ("table", 48), ("pair", 16)}
    ends = 0
    for v in found:
        assert isinstance(v, LocalVariable)
        assert v.offset >= ends
        ends = v.offset + v.size


def test_no_debug_information_is_no_variables() -> None:
    assert local_variables(parse(compile_text(SOURCE, "-lineinfo"))) == {}


def test_damaged_debug_information_is_no_variables(ptx: str) -> None:
    head, _, tail = ptx.partition(".debug_info")
    broken = parse(head + ".debug_info" + tail.replace(".b8 1\n", ".b8 99\n", 3))
    assert local_variables(broken) == {}
