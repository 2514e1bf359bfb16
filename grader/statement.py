"""Whether an assignment's README says what its `assignment.toml` says.

Students read the one and are graded by the other: names of kernels and parameters, the points of
each item and the command must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader import parameters
from grader.assignment_schema import RUBRIC_ITEMS, Assignment, Language

_ROW = re.compile(r"^\|\s*(\w+)\s*\|\s*(\d+)\s*\|", re.MULTILINE)


def disagreements(assignment: Assignment) -> tuple[str, ...]:
    """What the README leaves out or says differently, one message each."""
    path = assignment.folder / "README.md"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ("README.md: there is no statement that can be read",)
    return tuple(f"README.md: {message}" for message in _messages(assignment, text))


def _messages(assignment: Assignment, text: str) -> Iterator[str]:
    code = " ".join(re.findall(r"`([^`\n]+)`", text))
    for kernel in assignment.kernels:
        if not _says(code, kernel.name):
            yield f"expected the kernel `{kernel.name}` to be named"
    yield from dict.fromkeys(
        message
        for language in assignment.languages
        for message in _parameters(assignment, language, code)
    )
    if assignment.solve is not None:
        if not _says(code, assignment.solve.function):
            yield f"expected the function `{assignment.solve.function}` to be named"
        for declared in assignment.solve.parameters:
            if not _says(code, parameters.split(declared, "cuda-c").name):
                yield f"expected the parameter `{declared}` to be named"
    if assignment.kind == "program":
        for buffer in assignment.buffers:
            if not _says(code, f"{buffer.name}.bin"):
                yield f"expected the file `{buffer.name}.bin` to be named"
    for name in dict.fromkeys(
        n for each in assignment.languages for n in assignment.defaults(each)
    ):
        if not _says(code, name):
            yield f"expected the constant `{name}` to be named"
    said = {item: int(points) for item, points in _ROW.findall(text)}
    for item in RUBRIC_ITEMS:
        points = getattr(assignment.rubric, item)
        if said.get(item, 0) != points:
            yield f"expected a row `| {item} | {points} | …`, found {said.get(item, 'none')}"
    if f"grade submit {assignment.name}" not in text:
        yield f"expected the command `grade submit {assignment.name}`"


def _parameters(assignment: Assignment, language: Language, code: str) -> Iterator[str]:
    """Parameters that go by neither their own name nor that of what is passed for them."""
    for launch in assignment.launches_in(language):
        contract = next(c for c in assignment.contracts(language) if c.kernel == launch.kernel)
        taken = [p for p in contract.parameters if parameters.is_argument(p.type, language)]
        given = launch.keys(language).args or ()
        for parameter, argument in zip(taken, given, strict=True):
            if not _says(code, parameter.name) and not _says(code, argument):
                yield f"expected the parameter `{parameter.name}` of {launch.kernel} to be named"


def _says(code: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", code) is not None
