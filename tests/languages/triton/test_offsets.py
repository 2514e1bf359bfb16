"""How a pointer differs between the lanes of a block, read off the source."""

from __future__ import annotations

import ast

import pytest

from grader.languages.triton_offsets import lanes, moving, values_of

KERNEL = """\
def f(p, q, n, stride, BLOCK):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    flat = cols[:, None] * stride + cols[None, :]
    ptrs = p + cols
    at = tl.load(q + cols)
    one = tl.load(q + row)
    a, b = row + 1, cols
    for k in range(0, n, BLOCK):
        ptrs += BLOCK * stride
    mask = cols + k < n
"""
VALUES = values_of(ast.parse(KERNEL).body[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", "one"),
        ("p + row * stride + one", "one"),
        ("p + a + k", "one"),
        ("p + tl.cdiv(n, BLOCK) // 2", "one"),
        ("p + cols", "distinct"),
        ("ptrs", "distinct"),
        ("p + b", "distinct"),
        ("p + row.to(tl.int64) * stride - cols * 2", "distinct"),
        ("p + tl.max_contiguous(cols, 16)", "distinct"),
        ("p + flat", "distinct"),
        ("p + (cols << 1)", "distinct"),
        ("p + cols // 2", "any"),
        ("p + cols % 4", "any"),
        ("p + cols * cols", "any"),
        ("p + at", "any"),
        ("p + tl.where(cols < n, cols, 0)", "any"),
        ("p + tl.zeros([BLOCK], tl.int32)", "any"),
        ("p + tl.minimum(cols, n)", "any"),
    ],
)
def test_lanes(text: str, expected: str) -> None:
    assert lanes(ast.parse(text, mode="eval").body, VALUES) == expected


def test_nothing_is_known_of_a_helper_s_parameters() -> None:
    pointer = ast.parse("p + cols", mode="eval").body
    assert lanes(pointer, VALUES, ("p",)) == "any"


@pytest.mark.parametrize(
    ("pointer", "mask", "expected"),
    [
        ("p + row * n + cols", "cols < n", ("row",)),
        ("p + k * n + a * n + cols", "cols < n", ("k", "row")),
        ("p + k + cols", "mask", ()),
        ("p + row * n + cols", "(row < n) & (cols < n)", ()),
        ("p + stride + cols", "cols < n", ()),
    ],
)
def test_what_a_mask_does_not_look_at(pointer: str, mask: str, expected: tuple[str, ...]) -> None:
    parsed = [ast.parse(text, mode="eval").body for text in (pointer, mask)]
    assert moving(parsed[0], parsed[1], VALUES) == expected
