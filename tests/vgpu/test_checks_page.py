"""docs/checks.md says what is true: every example gets the message beside it."""

from __future__ import annotations

import pytest

from grader.languages import cuda_c
from tests.vgpu.checks_page import Example, examples, message

MISSING = cuda_c.missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"CUDA C: {MISSING}")
EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=[e.title for e in EXAMPLES])
def test_message(example: Example) -> None:
    assert message(example) == example.message
    assert example.code.count("\n") <= 10


def test_every_kind_of_fault_has_an_example() -> None:
    assert {e.kind for e in EXAMPLES} >= {
        "out_of_bounds", "misaligned", "race", "bad_barrier", "deadlock", "warp_mask",
        "uninitialised", "trap", "assertion",
    }  # fmt: skip
