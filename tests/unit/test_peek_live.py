"""What the profiler saw beside the facts: traces as PyTorch exports them."""

from __future__ import annotations

from typing import Any

import pytest

from grader import peek, peek_live
from grader.notes import facts
from grader.notes.sources import installed_version

ADD = (
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)


def trace(name: str = ADD, grid: Any = (977, 1, 1), block: Any = (128, 1, 1)) -> dict[str, Any]:
    return {
        "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "aten::add", "dur": 12.5, "args": {}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 3.0, "args": {}},
            {"ph": "X", "cat": "kernel", "name": name, "dur": 5.25,
             "args": {"grid": list(grid), "block": list(block), "device": 0}},
            {"ph": "M", "name": "process_name"},
        ]
    }  # fmt: skip


def newest() -> facts.Backend:
    return facts.backend_at("pytorch", "cuda", "v2.9.0")[0]


def test_names_grids_and_blocks_are_read() -> None:
    (kernel,) = peek_live.kernels(trace(), "cuda")
    assert (kernel.grid, kernel.block) == ((977, 1, 1), (128, 1, 1))
    assert kernel.nanoseconds == 5250
    assert "grid 977 × 1 × 1, block 128 × 1 × 1" in peek_live.words((kernel,))
    (operator,) = peek_live.kernels(trace(), "cpu")
    assert (operator.name, operator.grid) == ("aten::add", None)


def test_agreement_says_nothing() -> None:
    found = peek_live.kernels(trace(), "cuda")  # 977 blocks of 128 threads, 8 elements each
    assert peek_live.disagreements(found, newest()) == ()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"name": "some_other_kernel(float*)"}, "the profiler saw some_other_kernel"),
        ({"block": (256, 1, 1), "grid": (489, 1, 1)}, "the profiler saw 256 threads"),
        ({"grid": (7813, 1, 1)}, "the launch makes it 1"),
    ],
)
def test_disagreement_is_reported(more: dict[str, Any], said: str) -> None:
    found = peek_live.kernels(trace(**more), "cuda")
    assert any(said in text for text in peek_live.disagreements(found, newest()))


@pytest.mark.skipif(installed_version("pytorch") is None, reason="torch is not installed")
def test_an_add_is_really_profiled() -> None:
    found = peek.peek("add", "pytorch", live=True)
    cpu = next(kernel for kernel in found.kernels if kernel.backend == "cpu")
    assert any(one.name == "aten::add" for one in cpu.live)
    assert cpu.disagrees == ()


def test_without_live_nothing_is_profiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peek_live, "profile", lambda operation: pytest.fail("profiled"))
    found = peek.peek("add", "numpy", run=False)
    assert all(kernel.live == () for kernel in found.kernels)
