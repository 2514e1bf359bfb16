"""Attack: a source that compilers make gigabytes of PTX of, for the grader's own process to hold.
Why it must fail: the child that compiled it says its size instead.
"""

from __future__ import annotations

import pytest

from grader import languages
from grader.languages import Artefact, Variant, bounded
from grader.result import Build

BUILDS = tuple(Build(language="cuda-c", compiler="nvrtc", version="13", ok=True) for _ in range(2))


def artefact(size: int) -> Artefact:
    halves = [
        Variant(name=name, optimised=True, ptx="x" * (size // 2), entries={}) for name in "ab"
    ]
    return Artefact(language="cuda-c", variants=tuple(halves))


def test_what_is_not_too_large_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "MOST_PTX_BYTES", 1 << 20)
    made = artefact(1 << 20)
    assert bounded(BUILDS, made, "a.cu") == (BUILDS, made)
    assert bounded(BUILDS, None, "a.cu") == (BUILDS, None)


def test_too_much_assembly_is_an_error_of_the_last_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "MOST_PTX_BYTES", 1 << 20)
    builds, made = bounded(BUILDS, artefact(3 << 20), "a.cu")
    assert made is None
    assert [build.ok for build in builds] == [True, False]
    (said,) = builds[1].diagnostics
    assert said.message.startswith("expected at most 1 MiB of PTX, found 3 MiB")
