"""Finds the kernel a contract names in an imported Triton module, and compares the two.

Runs only inside the sandbox.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from grader.languages.triton_module import Refused

DEFAULT_STAGES = 3
"""`num_stages` where nobody says, as Triton has it."""


@dataclass(frozen=True)
class Configuration:
    """One way to compile a kernel: an `@autotune` choice, or the only one there is."""

    name: str
    constants: dict[str, Any] = field(default_factory=dict)
    warps: int | None = None
    stages: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A kernel with what its decorators say."""

    function: Any
    configurations: tuple[Configuration, ...]
    heuristics: dict[str, Any]


def find(module: ModuleType, name: str) -> Found:
    """The `@triton.jit` function called `name`, with its autotune choices and heuristics."""
    from triton.runtime.autotuner import Autotuner, Heuristics
    from triton.runtime.jit import JITFunction

    value = getattr(module, name, None)
    heuristics: dict[str, Any] = {}
    choices: tuple[Configuration, ...] = ()
    while isinstance(value, Autotuner | Heuristics):
        if isinstance(value, Autotuner):
            choices = tuple(_configuration(c) for c in value.configs)
        else:
            heuristics = {**value.values, **heuristics}
        value = value.fn
    if isinstance(value, JITFunction):
        return Found(value, choices or (Configuration(""),), heuristics)
    line = getattr(getattr(value, "__code__", None), "co_firstlineno", None)
    if callable(value):
        raise Refused(
            f"expected a Triton kernel {name}: put `@triton.jit` above `def {name}` "
            "(a plain Python function, or one that calls torch, is not a kernel)",
            line,
        )
    kernels = _kernel_names(module)
    close = difflib.get_close_matches(name, kernels, n=1) or kernels[:1]
    found = f"found {', '.join(kernels)}" if kernels else "the file has none"
    hint = f". Rename {close[0]} to {name}" if close else ""
    position = getattr(module, close[0]) if close else None
    while position is not None and not isinstance(position, JITFunction):
        position = position.fn
    line = None if position is None else position.def_file_line_number
    raise Refused(f"expected a @triton.jit function {name}; {found}{hint}", line)


def _kernel_names(module: ModuleType) -> list[str]:
    from triton.runtime.jit import KernelInterface

    return [name for name, value in vars(module).items() if isinstance(value, KernelInterface)]


def _configuration(config: Any) -> Configuration:
    constants = dict(config.kwargs)
    words = [f"{key}={value}" for key, value in constants.items()]
    words.append(f"num_warps={config.num_warps}")
    if config.num_stages != DEFAULT_STAGES:
        words.append(f"num_stages={config.num_stages}")
    options = {
        key: value
        for key, value in (("num_ctas", config.num_ctas), ("maxnreg", config.maxnreg))
        if value not in (None, 1)
    }
    return Configuration(" ".join(words), constants, config.num_warps, config.num_stages, options)


def check_signature(found: Found, contract: dict[str, Any]) -> None:
    """Refuse a kernel whose arguments are not the contract's, and say which."""
    function = found.function
    wanted = wanted_arguments(contract)
    line = function.def_file_line_number
    taken = [p for p in function.params if not p.is_constexpr]
    if len(taken) > len(wanted):
        for parameter in taken:
            if parameter.name in contract["constants"] or parameter.name in given_constants(found):
                raise Refused(
                    f"{parameter.name} is a compile-time constant: "
                    f"write `{parameter.name}: tl.constexpr`",
                    line,
                )
    if len(taken) < len(wanted):
        extra = [
            p.name
            for p in function.params
            if p.is_constexpr
            and p.name not in contract["constants"]
            and not p.has_default
            and p.name not in given_constants(found)
        ]
        if extra and len(taken) + len(extra) == len(wanted):
            raise Refused(
                f"{extra[0]} is an argument of the launch: write it without `: tl.constexpr`",
                line,
            )
    if len(taken) != len(wanted):
        expected = ", ".join(f"{p['name']}: {p['type']}" for p in wanted)
        names = ", ".join(p.name for p in taken) or "none"
        raise Refused(
            f"expected {len(wanted)} arguments besides constexprs ({expected}), "
            f"but {function.__name__} takes {len(taken)} ({names})",
            line,
        )
    for parameter, expected_type in zip(taken, wanted, strict=True):
        annotated = parameter.annotation_type
        if not annotated or annotated == expected_type["type"]:
            continue
        both_integers = annotated[0] in "iu" and expected_type["type"][0] in "iu"
        if both_integers and int(annotated[1:]) >= int(expected_type["type"][1:]):
            continue  # `n: tl.int64` widens what it is given, as Triton's launcher does
        raise Refused(
            f"expected {parameter.name} to be {expected_type['type']}, "
            f"but it is annotated {annotated}",
            line,
        )


def wanted_arguments(contract: dict[str, Any]) -> list[dict[str, str]]:
    """The contract's launch arguments: its constexprs are found by name, not by position."""
    return [p for p in contract["parameters"] if not p["type"].endswith("constexpr")]


def given_constants(found: Found) -> set[str]:
    return {name for c in found.configurations for name in c.constants} | set(found.heuristics)
