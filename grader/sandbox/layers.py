"""Which layers of the sandbox hold on this machine.

`available` is a quick question to the kernel, asked before every call; what it names, the child
must manage to put on, or it refuses to go on. `layers` starts a child that tries to break out.
"""

from __future__ import annotations

import functools
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from grader.errors import NotGradableError
from grader.sandbox import bubblewrap, forks, landlock, seatbelt, seccomp
from grader.sandbox.channel import Kind, encode
from grader.sandbox.confine import Confinement
from grader.sandbox.paths import WRITABLE_DEVICES, toolkit
from grader.sandbox.records import Exit, Limits
from grader.sandbox.start import converse, scratch_directory
from grader.sandbox.supervise import Heard

# One process more: a layer that does not stop it must be seen to, not cut short.
PROBE_LIMITS = Limits(wall_seconds=20, cpu_seconds=20, processes=1)


@dataclass(frozen=True)
class Layer:
    """One layer: what it is here (an ABI, a version), or why it is missing."""

    name: str
    on: bool
    detail: str = ""


@functools.cache
def missing() -> dict[str, str | None]:
    """Every layer of this platform and why it is missing, or None, by the quick questions."""
    if sys.platform == "darwin":
        return {"seatbelt": seatbelt.missing()}
    return {"bubblewrap": bubblewrap.missing(), **_missing_in_kernel()}


@functools.cache
def _missing_in_kernel() -> dict[str, str | None]:
    no_landlock = None if landlock.abi() else "the kernel has none, or it is switched off"
    return {
        "landlock": no_landlock,
        "seccomp": seccomp.missing(),
        "fork limit": forks.missing(),
    }


def available() -> tuple[str, ...]:
    """The layers that a child is ordered to put on."""
    return tuple(name for name, reason in missing().items() if reason is None)


def likely() -> tuple[str, ...]:
    """`available()`, but of bubblewrap it is only known that it is installed.

    For who can start again without it: a process that was started under it, and answers, says as
    much as its probe, which takes 0.04 s.
    """
    if sys.platform == "darwin" or bubblewrap.program() is None:
        return available()
    kernel = (name for name, reason in _missing_in_kernel().items() if reason is None)
    return ("bubblewrap", *kernel)


@functools.cache
def layers() -> tuple[Layer, ...]:
    """Every layer, each after a child really tried to get past it; for `grade devices`."""
    plain = Layer("process", True, "own session, limits, no capabilities, clean environment")
    return (plain, *(_layer(name, reason) for name, reason in missing().items()))


def _layer(name: str, reason: str | None) -> Layer:
    reason = reason or (_outrun() if name == "fork limit" else _broken((name,)))
    return Layer(name, reason is None, reason or _detail(name))


def _detail(name: str) -> str:
    if name == "landlock":
        abi = landlock.abi()
        return "; ".join(filter(None, (f"ABI {abi}", landlock.describe(abi))))
    return {
        "bubblewrap": bubblewrap.version(),
        "seccomp": "allow-list of system calls",
        "fork limit": "each new process waits for permission",
        "seatbelt": "untested by the authors",
    }[name]


@functools.cache
def _broken(names: tuple[str, ...]) -> str | None:
    """How a child got past the layers `names` and no others, or None."""
    with tempfile.NamedTemporaryFile(prefix="grade-") as forbidden:
        exit_, heard = _probe("look", {"forbidden": forbidden.name}, names)
    if heard.last is None or heard.last[0] is not Kind.LAST:
        return exit_.detail or exit_.output.strip()[-200:] or f"its probe {exit_.cause}"
    return _got_past(names, heard.last[1].header)


@functools.cache
def _outrun() -> str | None:
    """How far a child got that makes processes as fast as it can, or None where it was held."""
    exit_, _ = _probe("multiply", {}, ("fork limit",), starting=True)
    made = exit_.output.count("+")
    if exit_.cause == "processes" and made <= PROBE_LIMITS.processes:
        return None
    return exit_.detail or f"its probe made {made} processes, where it may {PROBE_LIMITS.processes}"


def _probe(
    job: str, request: dict[str, Any], names: tuple[str, ...], *, starting: bool = False
) -> tuple[Exit, Heard]:
    """Run a job of probes.py under the layers `names` and no others."""
    with scratch_directory() as scratch:
        confinement = Confinement(
            limits=PROBE_LIMITS,
            scratch=str(scratch),
            read=toolkit(),
            write=(str(scratch), *WRITABLE_DEVICES),
            layers=names,
            starting=starting,
        )
        order = {**confinement.to_order(), "job": f"grader.sandbox.probes:{job}"}
        pieces = [*encode(Kind.REQUEST, order), *encode(Kind.REQUEST, request)]
        return converse(pieces, confinement)


SIGNS = {
    "bubblewrap": ("exists", "opened"),
    "landlock": ("opened",),
    "seccomp": ("connected", "forked"),
    "seatbelt": ("opened", "connected", "forked"),
}


def _got_past(names: tuple[str, ...], found: dict[str, Any]) -> str | None:
    signs = [sign for name in names for sign in SIGNS[name] if found.get(sign) is not False]
    return "its probe got through: " + ", ".join(signs) if signs else None


def is_strong() -> bool:
    """Whether files, processes and network are closed: what a batch and CI ask for."""
    need = ("seatbelt",) if sys.platform == "darwin" else ("landlock", "seccomp")
    return set(need) <= set(available()) and _broken(need) is None


def demand(*, weak_is_allowed: bool = False) -> None:
    """Raise NotGradableError unless the sandbox is strong, or a flag said that weak will do."""
    if weak_is_allowed or is_strong():
        return
    why = "; ".join(f"{layer.name}: {layer.detail}" for layer in layers() if not layer.on)
    raise NotGradableError(
        f"expected Landlock and seccomp (or Seatbelt) around every submission, but {why}",
        hint="Use a Linux kernel with Landlock (5.13 or later); if you trust every submission,"
        " --weak-sandbox grades without it.",
    )
