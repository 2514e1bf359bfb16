"""Puts the student's kernel beside the framework's: the structure of both, from their PTX.

Student code is in PTX, so it is read in a sandboxed child. Structures of frameworks' kernels are
kept by content.
"""

from __future__ import annotations

import json

from grader import __version__, cache
from grader.errors import InternalError
from grader.languages import Artefact
from grader.notes import theirs
from grader.result import Notes, Structure
from grader.sandbox.records import Limits

LIMITS = Limits(wall_seconds=30, cpu_seconds=30)
SHOWN = 4
KIND = "structure"


def beside(found: Notes, artefact: Artefact | None) -> Notes:
    """The notes with `yours`, `theirs` and why some of theirs are not there.

    Only frameworks of entries whose file is not wrong are compiled. Without such an entry, or
    without a kernel that builds, nothing is added.
    """
    wanted = dict.fromkeys(
        (entry.framework, entry.backend) for entry in found.entries if entry.verdict != "wrong"
    )
    if artefact is None or not wanted:
        return found
    made: list[theirs.Theirs] = []
    missing = []
    for framework, backend in list(wanted)[:SHOWN]:
        try:
            made += theirs.kernels(framework, backend)
        except theirs.NotHere as error:
            missing.append(f"{framework} {backend or ''}".strip() + f": {error.message}")
    if not made:
        return found.model_copy(update={"not_compiled": tuple(missing)})
    best = next((one for one in artefact.variants if one.optimised), artefact.variants[0])
    yours = [theirs.Theirs(name, best.ptx, entry) for name, entry in best.entries.items()]
    try:
        structures = _structures([*yours, *made])
    except InternalError as error:  # the grade does not hang on it
        return found.model_copy(update={"not_compiled": (*missing, error.message)})
    return found.model_copy(
        update={
            "yours": structures[: len(yours)],
            "theirs": structures[len(yours) :],
            "not_compiled": tuple(missing),
        }
    )


def _structures(kernels: list[theirs.Theirs]) -> tuple[Structure, ...]:
    """The structure of each kernel, those not yet known read in one child."""
    keys = [cache.key(KIND, __version__, one.ptx, one.entry, one.name) for one in kernels]
    known = {key: kept for key in keys if (kept := cache.read(KIND, key)) is not None}
    fresh = [(key, one) for key, one in zip(keys, kernels, strict=True) if key not in known]
    if fresh:
        from grader import sandbox

        reply = sandbox.call(
            "grader.notes.structure:analyse_job",
            {"kernels": [{"name": one.name, "entry": one.entry} for _, one in fresh]},
            [one.ptx.encode() for _, one in fresh],
            limits=LIMITS,
        )
        if reply.header is None:
            raise InternalError(f"the structure of the kernels was not read: {reply.error}")
        for (key, _), row in zip(fresh, reply.header["structures"], strict=True):
            data = Structure.model_validate(row).model_dump_json().encode()
            known[key] = data
            cache.write(KIND, key, data)
    return tuple(Structure.model_validate(json.loads(known[key])) for key in keys)
