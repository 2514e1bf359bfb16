"""What a source says about its loads and stores, read as text."""

from __future__ import annotations

from grader.languages.triton_source import kernels, lines_without_other

SOURCE = """\
@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    ptrs = x + row * stride + cols
    values = tl.load(ptrs, mask=cols < n,
                     other=-float("inf"))
    again = tl.load(x + cols, cols < n)
    whole = tl.load(x + cols)
    tl.store(out + row * stride + cols, values, mask=cols < n)
    tl.atomic_add(out, 1.0)
    c = tl.dot(values, values, input_precision="ieee")
    d = tl.dot(values, values)
"""


def test_each_memory_call_is_understood():
    kernel = kernels(SOURCE)["softmax"]
    assert kernel.arguments == ("out", "x", "stride", "n")
    assert kernel.constants == ("BLOCK",)
    assert kernel.reads_program_id
    loads = {m.line: m for m in kernel.memory}
    assert (loads[6].base, loads[6].offsets) == ("x", "row * stride + cols")
    assert loads[6].has_other and loads[6].end_line == 7
    assert loads[8].mask == "cols < n" and not loads[8].has_other
    assert loads[9].mask is None
    assert (loads[10].access, loads[10].base) == ("write", "out")
    assert (loads[11].operation, loads[11].access) == ("atomic_add", "atomic")
    assert kernel.dots == ((12, "'ieee'"), (13, None))


def test_only_masked_loads_without_other():
    assert lines_without_other(SOURCE) == {8}


def test_a_text_that_is_not_python_says_nothing():
    assert kernels("def f(:") == {}
    assert lines_without_other("x = \x00") == frozenset()
