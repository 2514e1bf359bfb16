"""One set of kernels that every device must run alike.

The virtual GPU always; the stand-in always, which is the code for an NVIDIA card over CuPy's
recorded signatures (`recorded_cupy.py`); an NVIDIA and an Apple GPU where there is one.
`--device cuda` asks for one: then it must be there.
"""

from __future__ import annotations

import functools
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


RUNS = {
    "virtual": ("cuda-c", "metal"), "stand-in": ("cuda-c",), "cuda": ("cuda-c",),
    "metal": ("metal",),
}  # fmt: skip
"""The languages that a device runs here."""

Made = Callable[[conformance.Kernel], tuple[Work, dict[str, np.ndarray]]]


@pytest.fixture(scope="module", params=["cuda-c", "metal"])
def made(name: str, request: pytest.FixtureRequest) -> Made:
    """Works in a language, for a device."""
    if request.param not in RUNS[name]:
        pytest.skip(f"{name} runs {' and '.join(RUNS[name])}")
    if request.param == "cuda-c":
        return conformance.work
    return functools.partial(conformance.metal_work, on_a_mac=name == "metal")


def said(kernel: conformance.Kernel, made: Made) -> bool:
    return made is conformance.work or kernel.in_metal is not None


@pytest.fixture(scope="module")
def outcomes(run: Runs, made: Made) -> dict[str, Run]:
    """Every kernel in one go, as a grading does it."""
    works = [made(kernel)[0] for kernel in conformance.KERNELS if said(kernel, made)]
    return dict(zip((w.case for w in works), run(works), strict=True))


@pytest.mark.parametrize("kernel", conformance.KERNELS, ids=lambda kernel: kernel.name)
def test_values_are_exact_on_every_device(
    outcomes: dict[str, Run], made: Made, kernel: conformance.Kernel
) -> None:
    if not said(kernel, made):
        pytest.skip("Metal has no double")
    found = outcomes[kernel.name]
    assert found.ended == "finished", found.reason
    assert not [fault for fault in found.faults if fault.severity is Severity.ERROR]
    _, wanted = made(kernel)
    for output, expected in wanted.items():
        assert np.array_equal(found.outputs[output], expected), output
        if output == "out":
            assert found.written[output].all()


@pytest.mark.parametrize("mistake", conformance.MISTAKES, ids=lambda kernel: kernel.name)
def test_mistakes_have_the_same_name_on_every_device(
    run: Runs, made: Made, mistake: conformance.Kernel
) -> None:
    if not said(mistake, made):
        pytest.skip(f"Metal cannot say {mistake.name}")
    (found,) = run([made(mistake)[0]])
    kinds = {fault.kind for fault in found.faults if fault.severity is Severity.ERROR}
    if mistake.name == "unwritten":
        assert found.ended == "finished"
        assert int((~found.written["out"]).sum()) == 5
        assert not kinds
    elif mistake.name in ("trap", "assertion"):
        assert found.ended == mistake.name
    else:
        assert mistake.name in kinds


def test_the_device_can_be_used_again_after_a_mistake(run: Runs, made: Made) -> None:
    """Whether it ends the process (a trap) or not."""
    bad = next(m for m in conformance.MISTAKES if m.name in ("trap", "out_of_bounds")
               and (m.name == "trap") == (made is conformance.work))  # fmt: skip
    first, second = run([made(bad)[0], made(conformance.KERNELS[0])[0]])
    assert first.ended != "finished" or first.faults
    assert (second.ended, second.faults) == ("finished", ())


ASSIGNMENTS = ("assignment3", "assignment4", "assignment5", "assignment6")


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
