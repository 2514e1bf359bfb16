"""What the records keep of what compilers say."""

from __future__ import annotations

from grader.result import Build, Diagnostic


def test_a_flood_of_messages_is_cut() -> None:
    """One error in each line of a megabyte, or one of a megabyte, fills no gradebook."""
    text = "x" * 10**6
    message = Diagnostic(file="a.cu", line=-1, column=1 << 40, severity="error", message=text)
    assert (message.line, message.column) == (None, None)
    build = Build(
        language="triton", compiler="triton", version="3", ok=False,
        diagnostics=(message,) * 100_000, log="x" * 10**7,
    )  # fmt: skip
    assert len(build.model_dump_json()) < 5_000_000
