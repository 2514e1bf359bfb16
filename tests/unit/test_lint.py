"""The author-time lint: silent on what is shipped, and loud when an assignment is weakened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import assignment, lint
from grader.assignment_schema import Assignment, Tolerance

SHIPPED = Path(__file__).resolve().parents[2] / "assignments"
NAMES = sorted(path.name for path in SHIPPED.iterdir() if path.is_dir())


def rules(course: Assignment) -> set[str]:
    return {finding.rule for finding in lint.lint(course)}


@pytest.mark.parametrize("name", NAMES)
def test_shipped_assignments_are_clean(name: str) -> None:
    assert lint.lint(assignment.read(SHIPPED / name / "assignment.toml")) == ()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "assignment5"])
def test_a_tolerance_loosened_a_thousandfold_lets_half_precision_pass(name: str) -> None:
    course = assignment.read(SHIPPED / name / "assignment.toml")
    loose = {
        dtype: Tolerance(rtol=1000 * t.rtol, atol=1000 * t.atol)
        for dtype, t in course.tolerance.items()
    }
    assert "half precision" in rules(course.model_copy(update={"tolerance": loose}))


@pytest.mark.parametrize("name", NAMES)
def test_sizes_that_are_all_multiples_of_32(name: str) -> None:
    course = assignment.read(SHIPPED / name / "assignment.toml")
    kept = tuple(
        case.model_copy(
            update={
                "sizes": {
                    size: -(-(value if isinstance(value, int) else value[0]) // 32) * 32
                    for size, value in case.sizes.items()
                }
            }
        )
        for case in course.cases
    )
    found = lint.lint(course.model_copy(update={"cases": kept}))
    named = {finding.message.split()[0] for finding in found if finding.rule == "sizes"}
    shapes = " ".join(str(part) for b in course.buffers for part in b.shape if b.role != "scratch")
    assert named == {size for size in course.sizes if size in shapes.replace("(", " ").split()} or (
        name == "assignment4" and named == {"ROWS", "COLS", "STRIDE"}
    )


def weakened(folder: Path, name: str, old: str, new: str) -> Assignment:
    home = folder / name
    shutil.copytree(SHIPPED / name, home, ignore=shutil.ignore_patterns("submissions"))
    text = (home / "inputs.py").read_text()
    assert old in text
    (home / "inputs.py").write_text(text.replace(old, new))
    return assignment.read(home / "assignment.toml")


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ("a, b = (0 * pair).astype(np.float32)", "zeros"),
        ("a, b = (0 * pair + 0.5).astype(np.float32)", "ones"),
        ("a, b = (pair * [[1], [0]]).astype(np.float32)", "copy"),
        ("a, b = (pair * [[1], [0]]).astype(np.float32)", "last input"),
        ("a, b = pair.round().astype(np.float32)", "half precision"),
        ("a, b = 1e-6 * pair.astype(np.float32)", "half precision"),
    ],
)
def test_inputs_that_hide_a_mistake(tmp_path: Path, values: str, rule: str) -> None:
    course = weakened(tmp_path, "assignment1", "a, b = pair.astype(np.float32)", values)
    assert rule in rules(course)


def test_a_sum_so_long_that_its_last_element_is_lost() -> None:
    course = assignment.read(SHIPPED / "assignment6" / "assignment.toml")
    large = next(case for case in course.cases if case.large)
    course = course.model_copy(update={"cases": (large,)})
    loose = course.model_copy(update={"tolerance": {"float32": Tolerance(rtol=1e-4)}})
    assert "last input" in rules(loose)


def test_a_tolerance_that_hides_the_last_element() -> None:
    course = assignment.read(SHIPPED / "assignment4" / "assignment.toml")
    finite = tuple(case for case in course.cases if case.values == "uniform")
    loose = {"float32": Tolerance(rtol=0, atol=20)}
    found = rules(course.model_copy(update={"tolerance": loose, "cases": finite}))
    assert {"last element", "last row", "zeros", "ones", "half precision"} <= found
