"""Compiles one Metal submission: what the sandboxed build child does.

::

    metal_source.py     constructs that no GPU here has; edits that make the text C++
    metal_values.py     … those of vectors and matrices that are made or cast
    metal_operators.py  … those of vectors that step and structures that are chosen
    metal_positions.py  … those of positions outside of functions
    metal_refused.py    what Apple's compiler refuses and clang takes
    metal_signature.py  the kernels and their arguments, read with tree-sitter
    metal_contract.py   kernels against the assignment's contract
    metal_wrapper.py    the entries behind the text
    metal_clang.py      clang: preprocess, compile, check pointers
    metal_code.py       LLVM: both variants as PTX
    metal_messages.py   messages as a student needs them
    metal_headers/      metal_stdlib for the virtual GPU
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import NotGradableError
from grader.languages import Artefact, Contract, Variant
from grader.languages import metal_contract as contract_check
from grader.languages.metal_clang import (
    CODE_OPTIONS,
    HEADERS,
    LANGUAGE_OPTIONS,
    compile_text,
    preprocess,
    version,
)
from grader.languages.metal_code import (
    generic_constants,
    limit_threads,
    settle_places,
    take_constants,
    to_ptx,
    true_is_one,
)
from grader.languages.metal_messages import diagnostics, lost_spaces
from grader.languages.metal_refused import refused
from grader.languages.metal_signature import KernelText, Reading, own_lines, read
from grader.languages.metal_source import (
    Edited,
    blank,
    line_of,
    rewrite,
    undefined_constants,
    unsupported,
)
from grader.languages.metal_wrapper import Entry, entry, wrapper_text
from grader.result import Build, Diagnostic

LANGUAGE = "metal"
COMPILER = "clang"
MATHS = "maths mode: fast (Metal's default)"
THREADGROUP_BYTES = 32768
"""The most threadgroup memory a threadgroup has (Metal feature set tables, Apple 4 and later)."""

_SHARED = re.compile(r"^\s*\.shared \.align \d+ \.b8 [\w$]+\[(\d+)\];", re.MULTILINE)
_ENTRY = re.compile(r"^\.visible \.entry ([\w$]+)\(", re.MULTILINE)


@dataclass
class _Submission:
    """The files of a submission, edited, and what has been said about them."""

    file_name: str
    files: Mapping[str, str]
    edited: dict[str, Edited]
    started: float
    notes: list[Diagnostic] = field(default_factory=list)

    def failed(self, found: Sequence[Diagnostic], log: str = "") -> tuple[Build, ...]:
        """The build of a submission that does not compile."""
        return (self.build(False, [*self.notes, *found], log),)

    def build(self, ok: bool, found: Sequence[Diagnostic], log: str) -> Build:
        """The record of this compilation."""
        return Build(
            language=LANGUAGE,
            compiler=COMPILER,
            version=version(),
            ok=ok,
            options=(*LANGUAGE_OPTIONS, *CODE_OPTIONS, MATHS),
            diagnostics=tuple(found),
            log=log,
            seconds=time.perf_counter() - self.started,
        )


def compile_submission(
    text: str,
    file_name: str,
    contracts: Sequence[Contract],
    *,
    headers: Mapping[str, str],
    kernels: Sequence[str] = (),
    precompiled: str | None = None,
) -> tuple[tuple[Build, ...], Artefact | None]:
    """The builds of a submission and what a device runs; works in the current directory.

    Without contracts every kernel of the file is an entry, or those that `kernels` names;
    `precompiled` is a folder with the library as `metal_clang.precompile` makes it. Raises
    NotGradableError for a construct that no device here has.
    """
    started = time.perf_counter()
    files = {file_name: text, **headers}
    if any(map(unsupported, files.values())):
        _refuse_unsupported(file_name, files)
    values = {name: value for contract in contracts for name, value in contract.constants.items()}
    submission = _Submission(
        file_name,
        files,
        {name: rewrite(content, values) for name, content in files.items()},
        started,
    )
    for name, content in files.items():
        for line, constant in undefined_constants(content, values):
            submission.notes.append(
                Diagnostic(
                    file=name, line=line, severity="warning",
                    message=f"the host gives the function constant {constant} no value: it is "
                    "not defined here",
                )
            )  # fmt: skip
        submission.notes += refused(content, name)
    if any(note.severity == "error" for note in submission.notes):
        return submission.failed([]), None
    for name, content in files.items():
        _write(name, content)
    reading = _read(file_name, files)
    problems = [p for c in contracts for p in contract_check.problems(c, reading, file_name)]
    bare = list(contract_check.bare_pointers(reading))
    # A kernel's own argument is told so already.
    problems += [b for b in bare if not any((p.file, p.line) == (b.file, b.line) for p in problems)]
    problems += contract_check.misplaced(reading)
    if not contracts:
        problems += [p for k in reading.kernels for p in contract_check.kernel_problems(k)]
    if not contracts and not reading.kernels:
        problems = [
            Diagnostic(file=file_name, severity="error", message="expected a kernel, found none")
        ]
    entries = [] if problems else _entries(contracts, kernels, reading)
    mentioned = [n for n in values if any(re.search(rf"\b{n}\b", blank(t)) for t in files.values())]
    library = Path(precompiled) if precompiled else None
    return _compile(submission, entries, problems, mentioned, library)


def _refuse_unsupported(file_name: str, files: Mapping[str, str]) -> None:
    """Raise for a construct that no device here has, unless the preprocessor passes it over."""
    for name, content in files.items():
        _write(name, content)
    said = preprocess(file_name)
    left = own_lines(said.output, tuple(files))
    for name, content in ({"": left.text} if said.ok else files).items():
        if construct := unsupported(content):
            file, line = (name, construct.line) if name else left.places[construct.line - 1]
            raise NotGradableError(
                f"{file}:{line}: {construct.word} is not supported: "
                f"the virtual GPU has no {construct.family}"
            )


def _compile(
    submission: _Submission,
    entries: Sequence[Entry],
    problems: Sequence[Diagnostic],
    constants: Sequence[str],
    library: Path | None,
) -> tuple[tuple[Build, ...], Artefact | None]:
    name = submission.file_name
    wrapper = wrapper_text(entries, constants) if entries and not problems else ""
    for file, edited in submission.edited.items():
        _write(file, edited.text + (wrapper if file == name else ""))
    code, strict = compile_text(name, library)
    edits = {file: edited.edits for file, edited in submission.edited.items()}
    found = list(diagnostics(code.log, name, edits))
    if not code.ok and constants:
        found = [_constant(d, constants, submission.files[name], name) for d in found]
    lost = [] if strict.ok else list(lost_spaces(strict.log, name, edits))
    # A message of both targets is reported once, by the one that compiles.
    places = {(d.file, d.line) for d in [*problems, *found] if d.severity == "error"}
    found += [d for d in lost if (d.file, d.line) not in places]
    if not code.ok and not any(d.severity == "error" for d in found):
        # `missing` has seen this compiler work, so it is the text that it died on.
        first = next(iter(code.log.strip().splitlines()), "no reason given")
        message = f"the compiler crashed on this file ({first[:200]})"
        found.append(Diagnostic(file=name, severity="error", message=message))
    if not code.ok or lost or problems:
        return submission.failed([*problems, *found], _shown(code.log)), None
    text, declared = take_constants(code.output)
    limits = {one.name: _thread_limit(one.kernel) for one in entries}
    text = limit_threads(
        true_is_one(generic_constants(text)), {n: v for n, v in limits.items() if v}
    )
    names = [one.name for one in entries]
    mapping = {one.kernel.name if not one.bound else one.name: one.name for one in entries}
    variants = []
    builds: list[Build] = []
    for optimised in (True, False):
        again = time.perf_counter()
        ptx = settle_places(to_ptx(text, names, optimised=optimised), edits, str(HEADERS))
        shared = shared_bytes(ptx)
        variants.append(
            Variant(
                name="optimised" if optimised else "unoptimised",
                optimised=optimised,
                ptx=ptx,
                entries=mapping,
                constants=declared,
                shared_bytes={n: shared.get(n, 0) for n in names},
                parameters={
                    one.name: one.parameters for one in entries if one.bound is None or one.offsets
                },
            )
        )
        if not builds:
            builds.append(submission.build(True, [*submission.notes, *found], ""))
        else:
            seconds = time.perf_counter() - again
            builds.append(submission.build(True, [], "").model_copy(update={"seconds": seconds}))
    too_much = _threadgroup_problems(variants[1].shared_bytes, entries)
    if too_much:
        return submission.failed([*too_much, *found]), None
    return tuple(builds), Artefact(language=LANGUAGE, variants=tuple(variants))


def shared_bytes(ptx: str) -> dict[str, int]:
    """The threadgroup memory that each entry declares, in bytes."""
    marks = list(_ENTRY.finditer(ptx))
    common = sum(int(size) for size in _SHARED.findall(ptx[: marks[0].start()])) if marks else 0
    ends = [m.start() for m in marks[1:]] + [len(ptx)] * bool(marks)
    return {
        mark[1]: common + sum(int(size) for size in _SHARED.findall(ptx[mark.start() : end]))
        for mark, end in zip(marks, ends, strict=True)
    }


def _threadgroup_problems(used: Mapping[str, int], entries: Sequence[Entry]) -> list[Diagnostic]:
    return [
        Diagnostic(
            file=one.kernel.file, line=one.kernel.line, column=one.kernel.column, severity="error",
            message=f"expected at most {THREADGROUP_BYTES} bytes of threadgroup memory, found "
            f"{used[one.name]} in {one.kernel.name}: Metal makes no pipeline of it",
        )
        for one in entries
        if used[one.name] > THREADGROUP_BYTES
    ]  # fmt: skip


def _entries(
    contracts: Sequence[Contract], kernels: Sequence[str], reading: Reading
) -> list[Entry]:
    if contracts:
        found = [(c, contract_check.find(c, reading)) for c in contracts]
        return [entry(contract, kernel) for contract, kernel in found if kernel is not None]
    wanted = [k for k in reading.kernels if not kernels or k.name in kernels]
    wanted = [k for k in wanted if not list(contract_check.kernel_problems(k))]
    return [Entry(_symbol(k.name, i), k, None) for i, k in enumerate(wanted)]


def _symbol(name: str, number: int) -> str:
    """A name for the PTX: the kernel's own, unless it holds characters that PTX has not."""
    return name if re.fullmatch(r"\w+", name) else f"kernel_{number}"


def _read(file_name: str, files: Mapping[str, str]) -> Reading:
    return read(preprocess(file_name).output, tuple(files))


def _write(name: str, content: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def _thread_limit(kernel: KernelText) -> int:
    limit = kernel.attributes.get("max_total_threads_per_threadgroup", "")
    return int(limit) if limit.isdigit() else 0


def _constant(
    diagnostic: Diagnostic, constants: Sequence[str], text: str, file_name: str
) -> Diagnostic:
    """Words for a constant of the assignment that is not an integer constant."""
    if diagnostic.line is not None:
        return diagnostic
    name = next((n for n in constants if n in diagnostic.message), None)
    if name is None:
        return diagnostic
    plain = blank(text)
    match = re.search(rf"\b{name}\b", plain)
    line = line_of(plain, match.start()) if match else None
    message = (
        f"expected {name} to be an integer constant, since the launch uses it: "
        f"write constant constexpr uint {name} = 256; at the top of the file"
    )
    return diagnostic.model_copy(update={"line": line, "message": message})


def _shown(log: str) -> str:
    """The log with our folder's name taken out."""
    return log.replace(f"{HEADERS}/", "<metal>/")
