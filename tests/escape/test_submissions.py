"""Hostile submissions, through the whole line: each file of `submissions/` says what it tries.

The assertion is always the same: the verdict is one that its header allows, it earns no more than
honest work, the grader lives, and nothing is left. Two controls per language keep the rest honest:
a right kernel that is accepted and a wrong one that is not.
"""

from __future__ import annotations

import functools
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from grader import assignment as assignments
from grader import cache, grade, sandbox, warm
from grader.languages import language
from grader.result import Verdict

ASSIGNMENT = "assignment3"
HERE = Path(__file__).parent / "submissions"
LANGUAGES = {"cuda_c": "cuda-c", "triton": "triton", "metal": "metal"}
FILES = sorted(path for folder in LANGUAGES for path in (HERE / folder).iterdir())
SHORT = {"wall_seconds": 8, "cpu_seconds": 8, "memory_bytes": 1 << 30, "disk_bytes": 1 << 28}
COMPILERS = SHORT | {"wall_seconds": 80}  # who waits for a compiler waits for its CPU time
ESCAPED = Path("/tmp/grade-escaped")


def header(path):
    """What the file says of itself: attack, reason and the verdicts that it may get."""
    text = re.sub(r"^// ?", "", path.read_text(), flags=re.MULTILINE)
    found = re.match(
        r'(?:""")?Attack: (.+?)\s+Why it must fail: (.+?)\s+Expect: ([a-z_ ]+)\n', text, re.DOTALL
    )
    assert found, f"{path} has no header"
    return found[1], found[2], [Verdict(word) for word in found[3].split()]


@pytest.fixture(scope="module", autouse=True)
def line(tmp_path_factory):
    """A line that builds everything anew, with limits that a test can wait for."""
    read, write = cache.read, cache.write
    builds = set(LANGUAGES.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "read", lambda k, name: None if k in builds else read(k, name))
        patch.setattr(cache, "write", lambda k, *rest: None if k in builds else write(k, *rest))
        for name in builds:
            module = language(name)
            if module.missing() is None:
                limits = SHORT if name == "triton" else COMPILERS
                patch.setattr(module, "LIMITS", replace(module.LIMITS, **limits))
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))
        with sandbox.warmed(warm.PRELOAD, read=[cache.root()]):
            sandbox.call("grader.sandbox.probes:echo", {})  # its folder is there from now on
            yield


@functools.cache
def graded(path, name):
    if name not in assignments.load(ASSIGNMENT).languages:
        pytest.skip(f"{ASSIGNMENT} is not set in {name}")
    if reason := language(name).missing():
        pytest.skip(f"{name}: {reason}")
    return grade.submit(ASSIGNMENT, path, language=name, small=True)


def points(path, name):
    return graded(path, name).score.points


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_hostile_submission(path):
    _, _, allowed = header(path)
    name = LANGUAGES[path.parent.name]
    before = sorted(Path(tempfile.gettempdir()).iterdir())
    result = graded(path, name)
    assert result.verdict in allowed, result.reason
    best = points(path.parent / f"control_honest{path.suffix}", name)
    got = result.score.points
    if result.verdict is Verdict.ACCEPTED:
        assert got <= best
    elif got is not None:
        # Partly right is worth something, as it is to an honest student; never all, never speed.
        points_of = {line.item: (line.points, line.out_of) for line in result.score.lines}
        assert got < best
        assert points_of["speed"][0] == 0
        assert any(points_of[item][0] < points_of[item][1] for item in ("correct", "bounds"))
    assert sorted(Path(tempfile.gettempdir()).iterdir()) == before
    assert not ESCAPED.exists()


def test_sizes_of_hidden_cases_are_not_printed(tmp_path):
    """Attack: a file with the word heuristics is told every size, and prints what it was told.
    Why it must fail: what such a file prints is not passed on."""
    if reason := language("triton").missing():
        pytest.skip(f"triton: {reason}")
    honest = (HERE / "triton" / "control_honest.py").read_text()
    (tmp_path / "vec_add.py").write_text(f"{honest}\n# heuristics\nprint('2385')\n")
    result = graded(tmp_path, "triton")
    assert result.verdict is Verdict.ACCEPTED
    assert [build.log for build in result.builds] == [language("triton").NOT_SHOWN]


def test_sizes_of_hidden_cases_are_not_raised(tmp_path):
    """Attack: a heuristic raises an error that holds the sizes it was told.
    Why it must fail: what is wrong is said by a second child, which is told no size."""
    if reason := language("triton").missing():
        pytest.skip(f"triton: {reason}")
    (tmp_path / "vec_add.py").write_text(
        "import triton\nimport triton.language as tl\n\n\ndef told(args):\n"
        "    if args['n'] > 16:\n        raise ValueError('told of ' + str(args['n']))\n"
        "    return 128\n\n\n@triton.heuristics({'BLOCK': told})\n@triton.jit\n"
        "def vec_add(a, b, c, n, BLOCK: tl.constexpr):\n    pass\n"
    )
    result = graded(tmp_path, "triton")
    assert result.verdict is Verdict.BUILD_FAILED
    said = [d.message for build in result.builds for d in build.diagnostics]
    assert said == [language("triton").FAILS_FOR_A_SIZE]
    assert "told of" not in result.model_dump_json(exclude={"files"})


@pytest.mark.parametrize("folder", LANGUAGES)
def test_the_controls_are_there(folder):
    names = {path.stem for path in (HERE / folder).iterdir()}
    assert {"control_honest", "control_wrong"} <= names


def test_the_page_names_every_attack_that_is_tried():
    page = (Path(__file__).parents[2] / "docs" / "threats.md").read_text()
    table = page[page.index("## Known hacks") : page.index("## Trying it")]
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row)}
    tried = {path.stem for path in FILES} - {"control_honest", "control_wrong"}
    assert named == tried
