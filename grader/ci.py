"""What a CI system reads of a submission's result: annotations, a summary, points in its format.

`quoted` goes around everything that may hold a student's words; `report` says the rest after it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from grader.errors import UsageError
from grader.result import Result

MODES = ("auto", "github", "classroom", "classroom50", "gradescope", "none")
ON_GITHUB = ("github", "classroom", "classroom50")
SUMMARY_BYTES = 1_000_000
"""GitHub drops a step's summary of more than 1 MiB whole."""

AUTOGRADER = Path("/autograder")


def mode(asked: str, environment: Mapping[str, str], autograder: Path = AUTOGRADER) -> str:
    """The system asked for; with `auto` the one we run under. Raises UsageError."""
    if asked not in MODES:
        raise UsageError(f"expected --ci {', '.join(MODES)}; found {asked!r}")
    if asked != "auto":
        return asked
    if environment.get("CLASSROOM50_BUNDLE_DIR"):
        return "classroom50"
    if environment.get("GITHUB_ACTIONS") == "true":
        return "github"
    return "gradescope" if (autograder / "submission_metadata.json").is_file() else "none"


@contextlib.contextmanager
def quoted(system: str, out: IO[str]) -> Iterator[None]:
    """Inside, GitHub's runner obeys nothing that is printed: nobody can guess the token."""
    if system not in ON_GITHUB:
        yield
        return
    token = secrets.token_hex(16)
    out.write(f"::stop-commands::{token}\n")
    out.flush()
    try:
        yield
    finally:
        out.write(f"\n::{token}::\n")
        out.flush()


def report(
    result: Result,
    system: str,
    out: IO[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    autograder: Path = AUTOGRADER,
) -> None:
    """Tell the system. `folder` is where the submission's files lie.

    Raises UsageError where a file it needs cannot be written.
    """
    if system == "none":
        return
    try:
        if system == "gradescope":
            from grader.report import gradescope

            target = autograder / "results" / "results.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(gradescope.render(result), encoding="utf-8")
            return
        from grader.report import workflow

        root = environment.get("GITHUB_WORKSPACE") or os.curdir
        for line in workflow.lines(result, _relative(folder, Path(root))):
            out.write(line + "\n")
        out.flush()
        _append(environment.get("GITHUB_STEP_SUMMARY"), summary(result))
        _points(result, system, out, environment)
    except OSError as error:
        raise UsageError(
            f"--ci {system}: cannot write {error.filename}: {error.strerror}"
        ) from None


def _points(result: Result, system: str, out: IO[str], environment: Mapping[str, str]) -> None:
    """The points as a classroom reads them."""
    from grader.report import classroom, markdown

    outputs = environment.get("GITHUB_OUTPUT")
    if system == "classroom":
        line = f"result={classroom.encoded(classroom.legacy(result))}\n"
        if not _append(outputs, line):
            out.write(line)
    if system == "classroom50":
        Path("result.json").write_text(classroom.classroom50(result, environment), "utf-8")
        Path("release-body.md").write_text(markdown.render(result), "utf-8")
        points = result.score.points
        said = "no score" if points is None else f"{points}/{result.score.out_of}"
        _append(
            outputs, f"status={classroom.status(result)}\nsummary={result.verdict.value}, {said}\n"
        )


def summary(result: Result) -> str:
    """The step's summary, below GitHub's limit whatever a student put into it."""
    from grader.report import markdown

    text = markdown.render(result) + "\n"
    data = text.encode()
    return text if len(data) <= SUMMARY_BYTES else data[:SUMMARY_BYTES].decode(errors="ignore")


def _append(path: str | None, text: str) -> bool:
    if not path:
        return False
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(text)
    return True


def _relative(folder: Path, root: Path) -> str:
    """The folder as annotations name it: relative to the repository's root where it is inside."""
    here, base = folder.resolve(), root.resolve()
    return here.relative_to(base).as_posix() if here.is_relative_to(base) else here.as_posix()
