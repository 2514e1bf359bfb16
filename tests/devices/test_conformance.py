"""One set of kernels that every device must run alike.

The virtual GPU always; the stand-in always, which is the code for an NVIDIA card over CuPy's
recorded signatures (`recorded_cupy.py`); an NVIDIA and an Apple GPU where there is one.
`--device cuda` asks for one: then it must be there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from grader import measure
from grader.assignment import load
from grader.devices import cuda, hardware, metal, virtual
from grader.languages import language
from grader.result import Severity
from grader.run import Run, Task, Work
from tests.devices import conformance, recorded_cupy, stand_in

Runs = Callable[[Sequence[Work]], list[Run]]
ROOT = Path(__file__).parents[2]

DEVICES = {"virtual": None, "stand-in": stand_in, "cuda": cuda, "metal": metal}


@pytest.fixture(scope="module", params=list(DEVICES))
def name(request: pytest.FixtureRequest) -> str:
    asked: str | None = request.config.getoption("--device")
    found: str = request.param
    if asked is not None and found != asked:
        pytest.skip(f"--device {asked}")
    module = DEVICES[found]
    reason = module.missing() if module is not None else None
    if reason is not None and asked is not None:
        pytest.fail(f"--device {asked} cannot be used: {reason}")
    if reason is not None:
        pytest.skip(f"{found}: {reason}")
    return found


@pytest.fixture(scope="module")
def run(name: str) -> Iterator[Runs]:
    module = DEVICES[name]
    if module is None:
        yield virtual.run
    elif module is not stand_in:
        yield lambda works: hardware.run(module, works)  # type: ignore[arg-type]
    else:
        with recorded_cupy.installed() as cuda_card:
            before = stand_in.card

            def opened() -> object:
                recorded_cupy.restart()  # each child has the card to itself
                return cuda_card.open_card()

            stand_in.card = opened  # type: ignore[assignment]
            yield lambda works: hardware.run(stand_in, works)
            stand_in.card = before


@pytest.fixture(scope="module")
def outcomes(name: str, run: Runs) -> dict[str, Run]:
    """Every kernel in one go, as a grading does it."""
    if name == "metal":
        pytest.skip("a Mac runs Metal only: see the reference kernels below")
    works = [conformance.work(kernel)[0] for kernel in conformance.KERNELS]
    return dict(zip((w.case for w in works), run(works), strict=True))


@pytest.mark.parametrize("kernel", conformance.KERNELS, ids=lambda kernel: kernel.name)
def test_values_are_exact_on_every_device(
    outcomes: dict[str, Run], kernel: conformance.Kernel
) -> None:
    found = outcomes[kernel.name]
    assert found.ended == "finished", found.reason
    assert not [fault for fault in found.faults if fault.severity is Severity.ERROR]
    _, wanted = conformance.work(kernel)
    for output, expected in wanted.items():
        assert np.array_equal(found.outputs[output], expected), output
        if output == "out":
            assert found.written[output].all()


@pytest.mark.parametrize("mistake", list(conformance.BAD))
def test_mistakes_have_the_same_name_on_every_device(name: str, run: Runs, mistake: str) -> None:
    if name == "metal":
        pytest.skip("a Mac runs Metal only")
    kernel = conformance.Kernel(
        mistake, conformance.BAD[mistake], conformance.one, lambda n, x: {"out": x["a"]}
    )
    work, _ = conformance.work(kernel)
    (found,) = run([work])
    kinds = {fault.kind for fault in found.faults if fault.severity is Severity.ERROR}
    if mistake == "unwritten":
        assert found.ended == "finished"
        assert int((~found.written["out"]).sum()) == 5
        assert not kinds
    elif mistake in ("trap", "assertion"):
        assert found.ended == mistake
    else:
        assert mistake in kinds


def test_the_device_can_be_used_again_after_a_mistake(name: str, run: Runs) -> None:
    if name == "metal":
        pytest.skip("a Mac runs Metal only")
    bad = conformance.Kernel(
        "bad", conformance.BAD["trap"], conformance.one, lambda n, x: {"out": x["a"]}
    )
    good = conformance.KERNELS[0]
    works = [conformance.work(bad)[0], conformance.work(good)[0]]
    assert [found.ended for found in run(works)] == ["trap", "finished"]


ASSIGNMENTS = ("assignment3", "assignment4", "assignment5", "assignment6")
RUNS = {
    "virtual": ("cuda-c", "metal"), "stand-in": ("cuda-c",), "cuda": ("cuda-c",),
    "metal": ("metal",),
}  # fmt: skip


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_reference_kernels_are_right_on_every_device(name: str, run: Runs, assignment: str) -> None:
    from grader import judge

    for spoken in RUNS[name]:
        task = Task.of(load(assignment), spoken, small=True, jobs=1)  # type: ignore[arg-type]
        path = task.assignment.reference(task.language)
        assert path is not None
        text = path.read_text("utf-8")
        _, artefact = language(spoken).build(text, path.name, task.contracts)
        assert artefact is not None
        if name == "virtual":
            from grader.run import plan

            works = [w for w in plan(task, artefact, fuel=lambda *_: 10**9) if w.values]
        else:
            works = measure._works(task, artefact, text)
        graded = judge.cases(task, works, run(works), file=path.name, device=name)
        assert {case.verdict.value for case in graded} == {"accepted"}, spoken


@pytest.mark.skipif(sys.platform == "darwin", reason="Triton has no wheel for macOS")
def test_a_triton_kernel_launched_by_triton_agrees_with_its_ptx(
    name: str, request: pytest.FixtureRequest
) -> None:
    """Triton itself, with torch tensors, beside the PTX that was checked and loaded by us."""
    if name != "cuda":
        pytest.skip("needs an NVIDIA card")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("triton", reason="Triton is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this torch was built without CUDA")
    from tests.devices import triton_launch

    task = Task.of(load("assignment3"), "triton", small=True, jobs=1)
    path = task.assignment.reference("triton")
    assert path is not None
    _, artefact = language("triton").build(path.read_text("utf-8"), path.name, task.contracts)
    assert artefact is not None
    works = [w for w in measure._works(task, artefact, "") if w.launches and w.elements]
    for work, found in zip(works, hardware.run(cuda, works), strict=True):
        theirs = triton_launch.vec_add(path, work.inputs.arrays())
        assert found.outputs["C"].tobytes() == theirs.tobytes()
