"""Clang's messages as a Metal student needs them: their file and line, Metal's words.

An error inside our headers is the student's call: it is reported where the call stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.languages.metal_source import Edits
from grader.languages.metal_wrapper import FILE
from grader.result import Diagnostic

Severity = Literal["error", "warning"]

_LINE = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)$",
    re.MULTILINE,
)
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"const __attribute__\(\(address_space\(4\)\)\)|"
         r"__attribute__\(\(address_space\(4\)\)\) const", "constant"),
        (r"__attribute__\(\(address_space\(4\)\)\)", "constant"),
        (r"__attribute__\(\(address_space\(1\)\)\)", "device"),
        (r"__attribute__\(\(address_space\(3\)\)\)", "threadgroup"),
        (r"const constant\b", "constant"),
        (r"address space '1'", "the device address space"),
        (r"address space '3'", "the threadgroup address space"),
        (r"address space '4'", "the constant address space"),
        (r"generic address space", "the thread address space"),
        (r"\b_Float16\b", "half"),
        (r"__bf16", "bfloat"),
        (r"\bmetal::bool_vector<(\d)>", r"bool\1"),
        (r"\bmetal::vec<(\w+), (\d)>", r"\1\2"),
        (r" \(vector of \d '[\w ]+' values\)", ""),
        (r" \(aka '[^']*(?:address_space|attribute|ext_vector)[^']*'\)", ""),
        (r"no matching function for call to '(?:__metal_make|__make)'",
         "no matching constructor: the components do not fill the vector, or have another type"),
        (r"no matching function for call to 'as_type'",
         "as_type needs a value of the same size"),
        (r"(?:static assertion failed[^:]*|static_assert failed[^:]*): ", ""),
    )
)  # fmt: skip
_SAME = re.compile(r"'([^']*)' \(aka '\1'\)")
# What the strict target may say: a pointer or reference whose address space is lost.
_ARGUMENT_LOST = re.compile(
    r"cannot (?:pass pointer to|bind reference in) address space '(\d)'.*generic address"
)
_REFERENCE_LOST = re.compile(
    r"binding reference of type '([^']*)' to value of type '([^']*)' changes"
)
_NOT_VIABLE = re.compile(r"candidate function not viable: (.*)")
_BUILTIN = re.compile(r"use of undeclared identifier '__(?!grade_)\w+'")
_OF_ENTRY = re.compile(
    r"__grade_entry_|^template argument for template type parameter must be a type$"
)
_OBJECT = re.compile(r"object parameter|initialize return object of type '[^'*&]*'")


@dataclass(frozen=True)
class _Message:
    file: str
    line: int
    column: int
    kind: str
    text: str
    notes: tuple[_Message, ...] = ()


def diagnostics(log: str, file_name: str, edits: Mapping[str, Edits]) -> tuple[Diagnostic, ...]:
    """The errors and warnings of a log of clang, each once, with places in the student's files."""
    found: list[Diagnostic] = []
    unplaced: list[Diagnostic] = []
    for message in _messages(log):
        place = _own(message, edits)
        if place is not None:
            found.append(_diagnostic(message, place, file_name, edits))
        elif message.kind == "error":
            unplaced.append(_diagnostic(message, place, file_name, edits))
    # What is said of our entry follows from an error of the kernel that it calls.
    others = [d for d in found if not _OF_ENTRY.search(d.message)]
    found = others if any(d.severity == "error" for d in others) else found
    if not any(diagnostic.severity == "error" for diagnostic in found):
        found += unplaced  # otherwise they follow from an error that has a place
    return tuple(dict.fromkeys(found))


def lost_spaces(log: str, file_name: str, edits: Mapping[str, Edits]) -> tuple[Diagnostic, ...]:
    """The strict target's errors about address spaces and about names that are CUDA's.

    Its other opinions do not count.
    """
    found = []
    for message in _messages(log):
        place = message if message.file in edits else None
        if message.kind != "error" or place is None:
            continue
        if reason := _lost(message):
            text = f"expected {reason[0]}, found {reason[1]}: {_words(message.text)}"
            found.append(_place(place, text, "error", edits))
        elif _BUILTIN.search(message.text):  # a name that only the GPU's target knows
            found.append(_place(place, _words(message.text), "error", edits))
    return tuple(dict.fromkeys(found))


def _lost(message: _Message) -> tuple[str, str] | None:
    """What was expected and found when `message` says that a pointer lost its address space."""
    for note in message.notes:
        match = _ARGUMENT_LOST.search(note.text)
        if match and "implicit" not in note.text and "'this'" not in note.text:
            return "a pointer or reference to thread memory", f"one to {_SPACES[match[1]]} memory"
    match = re.search(
        r"of type '(?P<to>[^']*[*&])'(?: \(aka '[^']*'\))? (?:with|from|to value of type).*?"
        r"'(?P<from>[^']*)'", message.text,
    )  # fmt: skip
    if match and not _OBJECT.search(message.text):
        space = re.search(r"\b(device|threadgroup|constant)\b|address_space\((\d)\)", match["from"])
        target = re.search(r"\b(device|threadgroup|constant)\b|address_space\((\d)\)", match["to"])
        if space and not target:
            name = space[1] or _SPACES[space[2]]
            return f"{name} in the type {match['to']}", "no address space"
    match = _REFERENCE_LOST.search(message.text)
    if match:
        space = re.search(r"\b(device|threadgroup|constant)\b|address_space\((\d)\)", match[2])
        if space:
            return f"{space[1] or _SPACES[space[2]]} in the type {match[1]}&", "no address space"
    return None


_SPACES = {"1": "device", "3": "threadgroup", "4": "constant"}


def _messages(log: str) -> Iterator[_Message]:
    """The errors and warnings of a log with the notes that follow each."""
    found = [
        _Message(m["file"].removeprefix("./"), int(m["line"]), int(m["column"]),
                 "error" if m["kind"] == "fatal error" else m["kind"], m["text"])
        for m in _LINE.finditer(log)
    ]  # fmt: skip
    i = 0
    while i < len(found):
        end = i + 1
        while end < len(found) and found[end].kind == "note":
            end += 1
        first = found[i]
        yield _Message(first.file, first.line, first.column, first.kind, first.text,
                       tuple(found[i + 1 : end]))  # fmt: skip
        i = end


def _own(message: _Message, edits: Mapping[str, Edits]) -> _Message | None:
    """Where the student's part in a message is: the message, or the note that leads to it."""
    candidates: Sequence[_Message] = (message, *message.notes)
    return next((m for m in candidates if m.file in edits), None)


def _diagnostic(
    message: _Message, place: _Message | None, file_name: str, edits: Mapping[str, Edits]
) -> Diagnostic:
    text = _words(message.text + _why_not_viable(message))
    severity: Severity = "error" if message.kind == "error" else "warning"
    if place is None:
        where = "" if message.file == FILE else f" (in {message.file.rsplit('/', 1)[-1]})"
        return Diagnostic(file=file_name, severity=severity, message=text + where)
    return _place(place, text, severity, edits)


def _why_not_viable(message: _Message) -> str:
    """Why the only function of that name cannot be called so, where the student wrote it."""
    reasons = [_NOT_VIABLE.match(note.text) for note in message.notes]
    told = [match[1] for match in reasons if match]
    return f": {told[0]}" if message.text.startswith("no matching") and len(told) == 1 else ""


def _place(
    place: _Message, text: str, severity: Severity, edits: Mapping[str, Edits]
) -> Diagnostic:
    return Diagnostic(
        file=place.file,
        line=place.line,
        column=edits[place.file].column(place.line, place.column) or None,
        severity=severity,
        message=text,
    )


def _words(text: str) -> str:
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    return _SAME.sub(r"'\1'", text)
