"""Builds the device half of a program: each CUDA file by itself, and linked where one uses a device
function or variable of another.

As nvcc, which compiles files by themselves and links their device code only with -rdc=true. Which
of the two a program needs is seen from the compiler's answer, not asked for.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from grader import __version__, cache, sandbox
from grader.errors import InternalError, NotGradableError
from grader.languages import Artefact, build_child, cuda_c
from grader.languages.build_child import LIMITS
from grader.languages.cuda_compilation import NOWHERE, RELOCATABLE, STATIC
from grader.mangling import function_name
from grader.result import Build, Diagnostic, Record

KIND = "programs"
_JOB = f"{__name__}:link_job"
_DEVICE_WORDS = ("__global__", "__device__", "__constant__")
_OPEN = re.compile(
    r"^\.extern \.(?:global|const)\b|"
    r"^\.extern \.func\s+(?:\([^)]*\)\s*)?(?!(?:vprintf|__assertfail|malloc|free|memcpy|memset)\b)",
    re.MULTILINE,
)
"""Declarations in PTX that something else must define; what the device's runtime has is none."""


@dataclass(frozen=True)
class DeviceHalf:
    """The builds of all CUDA files, and the artefact of each that has device code.

    `artefacts` is None where something did not build. `linked` says that the files share one
    module, and `note` what a person should know of that.
    """

    builds: tuple[Build, ...]
    artefacts: tuple[Artefact | None, ...] | None
    linked: bool = False
    note: Diagnostic | None = None


class Reference(Record):
    """`vgpu.link.Reference`, as the child says it."""

    kind: Literal["found", "missing", "twice", "unlike"]
    symbol: str
    function: bool
    modules: tuple[int, ...]
    places: tuple[tuple[str, int] | None, ...]


def build(
    files: Mapping[str, str],
    headers: Mapping[str, str],
    kernels: Sequence[Mapping[str, str]],
    defines: Sequence[str],
) -> DeviceHalf:
    """Compile the CUDA `files`; `kernels` are those that the host launches, for each file, and
    `defines` what -D gives a compiler."""
    compiled = functools.partial(_compile, files, headers, kernels, defines)
    alone = compiled(relocatable=False)
    if not _needs_others(alone):
        return alone
    if len(files) == 1:
        return _explained(alone, next(iter(files)))
    together = compiled(relocatable=True)
    if together.artefacts is None:
        return together
    names = [n for n, a in zip(files, together.artefacts, strict=True) if a is not None]
    references = _link([a for a in together.artefacts if a is not None], names)
    joined = any(r.kind in ("found", "unlike") for r in references)
    if alone.artefacts is not None and not joined:
        return alone  # what a file only declares is its own, as the compiler takes it
    said = [_said(r, names, {**headers, **files}) for r in references if r.kind != "found"]
    if said:
        last = together.builds[-1]
        failed = last.model_copy(update={"ok": False, "diagnostics": tuple(dict.fromkeys(said))})
        return DeviceHalf((*together.builds[:-1], failed), None)
    note = _note(references[0], names) if references else None
    return DeviceHalf(together.builds, together.artefacts, linked=True, note=note)


def _compile(
    files: Mapping[str, str],
    headers: Mapping[str, str],
    kernels: Sequence[Mapping[str, str]],
    defines: Sequence[str],
    *,
    relocatable: bool,
) -> DeviceHalf:
    """All files, or those up to the first that does not compile for a reason of its own."""
    builds: list[Build] = []
    artefacts: list[Artefact | None] = []
    whole = True
    for (name, source), launched in zip(files.items(), kernels, strict=True):
        artefact = None
        if launched or any(word in source for word in _DEVICE_WORDS):
            instances = tuple(sorted({name for name in launched.values() if "<" in name}))
            made, artefact = cuda_c.build(
                source, name, (), headers=headers, kernels=instances, defines=defines,
                relocatable=relocatable,
            )  # fmt: skip
            builds += made
            if artefact is None:
                whole = False
                if relocatable or not any(
                    NOWHERE in d.message for b in made for d in b.diagnostics
                ):
                    break
        artefacts.append(artefact)
    return DeviceHalf(tuple(builds), tuple(artefacts) if whole else None)


def _needs_others(half: DeviceHalf) -> bool:
    """Whether a file declares for the device what it does not define."""
    words = [d.message for build in half.builds for d in build.diagnostics]
    if half.artefacts is None:
        failed = [b for b in half.builds if not b.ok]
        return all(any(NOWHERE in d.message for d in b.diagnostics) for b in failed)
    ptx = (v.ptx for a in half.artefacts if a for v in a.variants[:1])
    return any(STATIC in w for w in words) or any(_OPEN.search(text) for text in ptx)


def _explained(half: DeviceHalf, file: str) -> DeviceHalf:
    """The build of a program of one file that uses what it does not define."""
    if half.artefacts is not None:
        return half

    def worded(diagnostic: Diagnostic) -> Diagnostic:
        if NOWHERE not in diagnostic.message:
            return diagnostic
        message = (
            f"{diagnostic.message.partition(':')[0]}. Where another file of the program defines "
            f"it, name that file too: grade run {file} OTHER.cu"
        )
        return diagnostic.model_copy(update={"message": message})

    builds = tuple(
        b.model_copy(update={"diagnostics": tuple(map(worded, b.diagnostics))}) for b in half.builds
    )
    return DeviceHalf(builds, None)


# ---- the link ----------------------------------------------------------------------------------


def link_job(request: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """In the child: link the optimised modules and say what refers to what."""
    from dataclasses import asdict

    from grader.vgpu import PtxError
    from grader.vgpu.link import link

    try:
        linked = link([blob.decode() for blob in blobs])
    except PtxError as error:
        return {"unreadable": str(error)}, []
    return {"references": [asdict(r) for r in linked.references[:100]]}, []


def _link(artefacts: Sequence[Artefact], names: Sequence[str]) -> tuple[Reference, ...]:
    """What the files use of each other. Raises NotGradableError for PTX that cannot be read."""
    texts = [artefact.variants[0].ptx for artefact in artefacts]
    key = cache.key(KIND, __version__, cache.code(Path(__file__).parents[1] / "vgpu"), *texts)
    header = cache.read_json(KIND, f"{key}.linked.json")
    if header is None:
        reply = sandbox.call(_JOB, {}, [text.encode() for text in texts], limits=LIMITS)
        why = build_child.stopped("linking the device code", reply, LIMITS)
        header = reply.header or {"unreadable": why}
        if reply.header is not None:
            cache.write(KIND, f"{key}.linked.json", json.dumps(header).encode())
    if "unreadable" in header:
        raise NotGradableError(f"the virtual GPU cannot read the PTX: {header['unreadable']}")
    try:
        found = tuple(Reference.model_validate(r) for r in header["references"])
        if any(not 0 <= m < len(names) for r in found for m in r.modules):
            raise KeyError("modules")
        if any(len(r.places) != len(r.modules) or not r.modules for r in found):
            raise KeyError("places")
    except (KeyError, TypeError, ValidationError) as error:
        raise InternalError(f"the link child sent a malformed reply: {error}") from None
    return found


def _said(r: Reference, names: Sequence[str], texts: Mapping[str, str]) -> Diagnostic:
    """A mistake between files, at its place in the last file that it concerns."""
    name = function_name(r.symbol)
    places = [
        place or _search(name, names[module], texts)
        for module, place in zip(r.modules, r.places, strict=True)
    ]
    file, line = places[-1]
    there = f"{places[0][0]}:{places[0][1]}" if places[0][1] else places[0][0]
    if r.kind == "missing":
        what = f"{name} is used here, and no file of the program defines it for the device"
        message = f"{what}. Define it, or name the file that does: grade run {names[0]} OTHER.cu"
    elif r.kind == "unlike":
        message = (
            f"{name} is declared here with another size or for other memory than where it is "
            f"defined, {there}"
        )
    elif places[0] == places[-1]:
        message = (
            f"{name} is defined in a header that {names[r.modules[0]]} and {names[r.modules[-1]]} "
            "include, so twice in the linked program (nvcc -rdc=true refuses that): "
        )
        message += "make it inline" if r.function else "declare it extern, define it in one file"
    else:
        message = f"{name} is defined twice in the program: here and in {there}"
        message += ". One that is each file's own is static" if r.function else ""
    return Diagnostic(file=file, line=line or None, severity="error", message=message)


def _note(r: Reference, names: Sequence[str]) -> Diagnostic:
    file, line = r.places[-1] or (names[r.modules[-1]], None)
    message = (
        f"{function_name(r.symbol)} is defined for the device in {names[r.modules[0]]}: the device "
        f"code of all files is linked, as by nvcc {RELOCATABLE}"
    )
    return Diagnostic(file=file, line=line, severity="note", message=message)


def _search(name: str, file: str, texts: Mapping[str, str]) -> tuple[str, int]:
    """The line of `file`, or of a header, that declares a device variable or function `name`; 0
    where none does."""
    for where, line in _device_lines(name, {file: texts.get(file, ""), **texts}):
        return where, line
    return file, 0


def _device_lines(name: str, texts: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    wanted = re.compile(rf"\b{re.escape(name)}\b")
    for file, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if wanted.search(line) and any(word in line for word in _DEVICE_WORDS):
                yield file, number
