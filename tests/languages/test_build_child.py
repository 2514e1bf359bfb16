"""A compiler that was ended: by its own doing, or by a machine that had no time for it."""

import dataclasses

import pytest

from grader.errors import InternalError, NotGradableError
from grader.languages import build_child
from grader.languages.build_child import LIMITS, stopped
from grader.programs import build as programs
from grader.sandbox import Reply
from grader.sandbox.records import Exit


def ended(cause, **seconds):
    return Reply(Exit(cause, **seconds), None)


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("cpu_limit", "compiling took more than 60 s of CPU time"),
        ("memory", "compiling took more memory than a build may have"),
        ("output_cap", "the compiler wrote more than a build may write"),
        ("signalled", "the compiler ended on this file (signalled)"),
    ],
)
def test_a_source_that_is_too_much_for_the_compiler(cause, said):
    reply = ended(cause, wall_seconds=300, cpu_seconds=250)
    assert stopped("the build", reply, LIMITS) == said


def test_a_machine_that_is_too_busy_is_nobodys_mistake():
    reply = ended("wall_timeout", wall_seconds=300, cpu_seconds=31)
    with pytest.raises(InternalError, match="had 31 s of CPU time in 300 s"):
        stopped("the build", reply, LIMITS)


def test_no_child():
    with pytest.raises(NotGradableError, match="no sandboxed process"):
        stopped("the build", ended("refused"), LIMITS)


def test_a_compiler_is_bounded_by_what_it_computes():
    """A machine that does many things at a time may give it a fifth of a core."""
    assert LIMITS.wall_seconds >= 5 * LIMITS.cpu_seconds


def test_what_a_limit_ended_is_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    kept = build_child.Reply(builds=(), artefact=None)
    answers = [(kept, False), (kept, True)]
    for _ in range(3):
        assert build_child.kept("folder", "name", lambda: answers.pop(0)) == ((), None)
    assert not answers


def test_a_program_whose_host_half_a_limit_ended_is_built_again(tmp_path, monkeypatch):
    if programs.toolchain.missing():
        pytest.skip(programs.toolchain.missing())
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path))
    monkeypatch.setattr(programs.toolchain, "libraries", lambda step: tmp_path)
    monkeypatch.setattr(programs.toolchain, "runtime_object", lambda: tmp_path / "runtime.o")
    asked = []

    def call(job, request, *, limits, read):
        asked.append(limits)
        return ended("memory")

    monkeypatch.setattr(programs.sandbox, "call", call)
    for _ in range(2):
        (host,), built = programs.build("int main() {}", "a.cu", {})
        assert built is None
        assert host.log == "compiling took more memory than a build may have"
    assert len(asked) == 2
    assert dataclasses.replace(LIMITS, cpu_seconds=120, processes=8) == asked[0]
