"""What is done about a submission that does not compile as it stands: host code and its headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from grader.languages import cuda_contract as contract_check
from grader.languages.cuda_attempt import Attempt, attempt
from grader.languages.cuda_compilation import Compiler, Message, Source
from grader.languages.cuda_host_code import (
    Blanked,
    blank_host_code,
    blank_host_macros,
    blank_host_types,
)
from grader.result import Diagnostic

_ROUNDS = 12
# `[] __device__ (float x)`, which nvcc takes with --extended-lambda, says nothing new inside device
# code; `register`, which C++17 took away and nvcc only warns of, says nothing at all.
_IDLE = {
    "__host__ or __device__ annotation on lambda is not allowed": re.compile(
        r"(?<=\])\s*(?:__(?:host|device)__\s*)+(?=[({])"
    ),
    'use of the "register" storage class specifier': re.compile(r"\bregister\b"),
}
_COMPOUND = re.compile(r"\(((?:\w+::)*[A-Za-z_]\w*(?:<[\w\s,]*>)?)\)(?=\s*\{)")


def until_settled(source: Source, compiler: Compiler) -> Attempt:
    """Compile, blank what the compiler calls host code, and again, while that helps.

    When blanking definitions no longer helps, the uses of macros, types and aliases that only host
    headers would explain are blanked too; if even that fails, the messages from before count.
    """
    remedies = (
        _without_idle_words,
        _without_compound_literals,
        _without_host_code,
        _without_lost_constants,
    )
    first = attempt(source, compiler)
    tried = _apply(first, remedies)
    if not tried.errors or not (tried.source.blanked or tried.source.missing):
        return tried
    bolder = _apply(tried, (*remedies, _without_host_macros, _without_host_types))
    known = {message.diagnostic for message in (*first.errors, *tried.errors)}
    if known.issuperset(m.diagnostic for m in bolder.errors):
        return bolder
    return tried if compiler.NAMES_HOST_CODE else first


def _apply(tried: Attempt, remedies: Sequence[Callable[[Attempt], Source | None]]) -> Attempt:
    for _ in range(_ROUNDS):
        if tried.compilation.ok:
            break
        changed = next((s for remedy in remedies if (s := remedy(tried))), None)
        if changed is None:
            break
        tried = attempt(changed, tried.compiler)
    return tried


def _without_host_code(tried: Attempt) -> Source | None:
    flagged = [message for message in tried.errors if tried.compiler.is_host_code(message)]
    return _blank(tried.source, flagged, blank_host_code)


def _without_idle_words(tried: Attempt) -> Source | None:
    """Words that nvcc takes and this compiler does not, where they change nothing: spaces."""
    for message, words in _IDLE.items():
        flagged = [m for m in tried.errors if m.diagnostic.message.startswith(message)]
        if changed := _blank(tried.source, flagged, partial(_spaced, words)):
            return changed
    return None


def _spaced(words: re.Pattern[str], text: str, places: Sequence[tuple[int, int]]) -> Blanked:
    lines = text.split("\n")
    for number, _ in places:
        lines[number - 1] = words.sub(lambda m: " " * len(m[0]), lines[number - 1])
    return Blanked("\n".join(lines), {})


def _without_compound_literals(tried: Attempt) -> Source | None:
    """`(float2){x, y}`, which nvcc takes over from C, becomes ` float2 {x, y}`: in all files, since
    a macro may say it."""
    if not any(m.diagnostic.message == "expected an expression" for m in tried.errors):
        return None
    source = tried.source
    headers = {
        name: _COMPOUND.sub(_unwrapped, text) if name in source.submission_files else text
        for name, text in source.headers.items()
    }
    text = _COMPOUND.sub(_unwrapped, source.text)
    if text == source.text and headers == source.headers:
        return None
    return replace(source, text=text, headers=headers)


def _unwrapped(literal: re.Match[str]) -> str:
    before = literal.string[max(literal.start() - 80, 0) : literal.start()].rstrip()
    word = re.search(r"(\w+|\)|\]|>)$", before)
    if word and word[1] != "return":  # the parentheses are those of a call or a condition
        macro = re.search(r"#[ \t]*define[ \t]+\w+(\([^()]*\))?$", before)
        return f" {literal[1]} " if macro else literal[0]
    return f" {literal[1]} "


def _without_host_macros(tried: Attempt) -> Source | None:
    return _blank(tried.source, tried.errors, blank_host_macros)


def _without_host_types(tried: Attempt) -> Source | None:
    return _blank(tried.source, tried.errors, blank_host_types)


def _without_lost_constants(tried: Attempt) -> Source | None:
    """A constant that is declared inside a function only: the launch takes the default, noted."""
    source = tried.source
    lost = {
        name
        for message in tried.contract
        if (name := contract_check.failed_constant(message.diagnostic.line, source.constants))
        and contract_check.is_undeclared(name, message.diagnostic.message)
        and name not in source.blanked
    }
    if not lost:
        return None
    notes = [
        Diagnostic(
            file=source.file_name,
            line=contract_check.first_line(name, source.original),
            severity="warning",
            message=f"{name} is not declared at file level: the launch takes {name} = {default}",
        )
        for name, default in contract_check.defaults(source.contracts).items()
        if name in lost
    ]
    left = tuple(name for name in source.constants if name not in lost)
    return replace(source, constants=left, notes=(*source.notes, *notes))


def _blank(
    source: Source,
    found: Sequence[Message],
    blank: Callable[[str, Sequence[tuple[int, int]]], Blanked],
) -> Source | None:
    """The source with the definitions at the messages' places blanked; None if nothing changed."""
    texts = {source.file_name: source.text}
    names = dict(source.blanked)
    for file in {message.diagnostic.file for message in found}:
        places = [
            (diagnostic.line, diagnostic.column or 1)
            for diagnostic in (message.diagnostic for message in found)
            if diagnostic.file == file and diagnostic.line
        ]
        content = source.text if file == source.file_name else source.headers.get(file, "")
        blanked = blank(content, places)
        texts[file] = blanked.text
        names.update(blanked.names)
    text = texts.pop(source.file_name)
    headers = {**source.headers, **texts}
    if text == source.text and headers == source.headers:
        return None
    return replace(source, text=text, headers=headers, blanked=names)
