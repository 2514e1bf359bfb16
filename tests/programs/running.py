"""Building and running a program in a test."""

from __future__ import annotations

import pytest

from grader.programs import build, run, toolchain
from grader.programs.run import Outcome

needs_host = pytest.mark.skipif(
    toolchain.missing() is not None, reason=f"no host programs here: {toolchain.missing()}"
)


def outcome(text: str, **options: object) -> Outcome:
    """Build and run a program."""
    builds, built = build.build(text, "program.cu", {})
    assert built is not None, [d.message for b in builds for d in b.diagnostics]
    return run.run(built, **options)  # type: ignore[arg-type]
