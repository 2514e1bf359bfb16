"""The build child of Triton: compiles a student's kernels to PTX.

Runs only inside the sandbox. Everything here may be tampered with by the module it imports; the
parent believes none of it (`grader/languages/triton.py` validates the reply).
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from grader.languages.triton_contract import (
    DEFAULT_STAGES,
    Configuration,
    Found,
    check_signature,
    find,
    wanted_arguments,
)
from grader.languages.triton_module import Refused, import_source

ARCHITECTURE = 80
PTX_VERSION = 87
DEFAULT_WARPS = 4
"""`num_warps` where nobody says, as Triton has it."""

_BRACKETS = re.compile(r"forget to add @triton\.jit|^unsupported tensor index")

SCRATCH = 2
"""Pointer parameters that Triton appends to every entry (global and profile scratch)."""


def build(request: dict[str, Any], text: str) -> tuple[dict[str, Any], list[bytes]]:
    """Compile every kernel the contracts name, for every configuration and kind of call.

    `request`: `file_name`, and `contracts` as dicts with `kernel`, `parameters` (name and type),
    `constants`, `calls`. The reply holds `diagnostics` and `variants`; blob i is the PTX of
    variant i.
    """
    prepare()
    file_name = request["file_name"]
    try:
        module = import_source(text, file_name)
        variants: list[dict[str, Any]] = []
        blobs: list[bytes] = []
        for contract in request["contracts"]:
            found = find(module, contract["kernel"])
            check_signature(found, contract)
            for variant, ptx in compile_all(found, contract, module):
                variants.append(variant)
                blobs.append(ptx.encode())
    except Refused as refused:
        diagnostic = {
            "line": refused.line,
            "column": refused.column,
            "message": refused.message,
        }
        return {"diagnostics": [diagnostic], "variants": []}, []
    return {"diagnostics": [], "variants": variants}, blobs


def prepare() -> None:
    """Settings that decide what Triton writes: the same on every machine."""
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"
    import triton

    # The version of ptxas chooses the PTX version; there is no ptxas here and none is needed.
    triton.knobs.nvidia.mock_ptx_version = "none"


def compile_all(
    found: Found, contract: dict[str, Any], module: ModuleType
) -> Iterator[tuple[dict[str, Any], str]]:
    """Each configuration, for each distinct specialisation that the calls need."""
    calls: list[dict[str, Any]] = contract["calls"]
    for configuration in found.configurations:
        groups: dict[str, tuple[_Plan, list[int]]] = {}
        for index, call in enumerate(calls or [{}]):
            plan = _plan(found, contract, configuration, call, module)
            groups.setdefault(plan.key, (plan, []))[1].append(index)
        for plan, indices in groups.values():
            ptx, metadata = _compile(found.function, plan)
            yield (
                {
                    "name": configuration.name or "optimised",
                    "kernel": contract["kernel"],
                    "entry": metadata["name"],
                    "constants": plan.visible,
                    "shared": metadata["shared"],
                    "parameters": plan.passed,
                    "calls": indices if calls else [],
                },
                ptx,
            )


@dataclass(frozen=True)
class _Plan:
    """One compilation: Triton's signature, constants, attributes and options."""

    signature: dict[str, str]
    constants: dict[tuple[int], Any]
    attributes: dict[tuple[int], list[list[Any]]]
    options: dict[str, Any]
    visible: dict[str, int]
    passed: list[dict[str, str]]

    @property
    def key(self) -> str:
        return repr((self.signature, self.constants, self.attributes, self.options))


def _plan(
    found: Found,
    contract: dict[str, Any],
    configuration: Configuration,
    call: dict[str, Any],
    module: ModuleType,
) -> _Plan:
    """Specialise as Triton's launcher would: pointers and multiples of 16, and 1 itself."""
    function = found.function
    constants = _constants(found, contract, configuration, call, module)
    signature: dict[str, str] = {}
    fixed: dict[tuple[int], Any] = {}
    attributes: dict[tuple[int], list[list[Any]]] = {}
    passed: list[dict[str, str]] = []
    wanted = iter(wanted_arguments(contract))
    for index, parameter in enumerate(function.params):
        if parameter.is_constexpr:
            signature[parameter.name] = "constexpr"
            fixed[(index,)] = constants[parameter.name]
            continue
        expected = next(wanted)
        spelled = parameter.annotation_type or expected["type"]
        value = call.get(expected["name"])
        integer = (
            value if isinstance(value, int) and spelled[0] in "iu" and spelled[1:] != "1" else None
        )
        if integer == 1 and not parameter.do_not_specialize:
            signature[parameter.name] = "constexpr"
            fixed[(index,)] = 1
            continue
        signature[parameter.name] = spelled
        passed.append({"name": expected["name"], "type": spelled})
        aligned = spelled.startswith("*") or (
            integer is not None and integer % 16 == 0 and not parameter.do_not_specialize
        )
        if aligned and not parameter.do_not_specialize_on_alignment:
            attributes[(index,)] = [["tt.divisibility", 16]]
    warps = _setting(configuration.warps, module, ("num_warps", "NUM_WARPS"), DEFAULT_WARPS)
    stages = _setting(configuration.stages, module, ("num_stages", "NUM_STAGES"), DEFAULT_STAGES)
    passed += [{"name": "", "type": "*i8"}] * SCRATCH
    visible = {
        name: int(value)
        for name, value in constants.items()
        if isinstance(value, int) and abs(value) < 1 << 62
    }
    return _Plan(
        signature=signature,
        constants=fixed,
        attributes=attributes,
        options={
            **configuration.options,
            "num_warps": warps,
            "num_stages": stages,
            # `tl.device_assert` only exists under debug; the overflow checks that come with it
            # would also stop hashes that mean to wrap around.
            "debug": True,
            "sanitize_overflow": False,
        },
        visible={**visible, "num_warps": warps, "num_stages": stages},
        passed=passed,
    )


def _setting(chosen: int | None, module: ModuleType, names: tuple[str, ...], default: int) -> int:
    if chosen is not None:
        return chosen
    for name in names:
        value = _plain(getattr(module, name, None))
        if isinstance(value, int):
            return value
    return default


def _plain(value: Any) -> Any:
    """The value inside `tl.constexpr(…)`, or the value itself."""
    return getattr(value, "value", value) if type(value).__name__ == "constexpr" else value


def _constants(
    found: Found,
    contract: dict[str, Any],
    configuration: Configuration,
    call: dict[str, Any],
    module: ModuleType,
) -> dict[str, Any]:
    """Values of the constexpr parameters.

    The first that says: autotune, a heuristic, a module constant of that name, the parameter's
    default, the assignment's default.
    """
    function = found.function
    values: dict[str, Any] = {}
    for parameter in function.params:
        name = parameter.name
        if not parameter.is_constexpr or name in found.heuristics:
            continue
        if name in configuration.constants:
            values[name] = configuration.constants[name]
        elif _plain(getattr(module, name, None)) is not None:
            values[name] = _plain(getattr(module, name))
        elif parameter.has_default:
            values[name] = _plain(parameter.default)
        elif name in contract["constants"]:
            values[name] = contract["constants"][name]
        else:
            raise Refused(
                f"{name} has no value: write `{name} = …` at the top level of the file, "
                "or give it in @triton.autotune",
                function.def_file_line_number,
            )
    if found.heuristics:
        names = [p.name for p in function.params if not p.is_constexpr]
        arguments = {
            own: call.get(expected["name"])
            for own, expected in zip(names, wanted_arguments(contract), strict=True)
        }
        for name, heuristic in found.heuristics.items():
            try:
                values[name] = heuristic({**arguments, **values})
            except Exception as error:
                raise Refused(
                    f"the heuristic of {name} raised {type(error).__name__}: {error}",
                    function.def_file_line_number,
                ) from None
    return values


def _compile(function: Any, plan: _Plan) -> tuple[str, dict[str, Any]]:
    """PTX and metadata of a plan; what the compiler refuses is on the student's line."""
    from triton.compiler.compiler import ASTSource

    try:
        source = ASTSource(function, plan.signature, plan.constants, plan.attributes)
        return compile_source(source, plan.options)
    except Exception as error:
        raise _refusal(error, function, plan.visible) from None


def compile_source(source: Any, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """PTX and metadata of an `ASTSource`, by Triton's own stages up to PTX.

    ptxas is never asked. Raises what Triton's compiler raises.
    """
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", ARCHITECTURE, 32)
    backend = make_backend(target)
    parsed = backend.parse_options({**options, "ptx_version": PTX_VERSION})
    metadata: dict[str, Any] = {"target": target, **parsed.__dict__}
    stages: dict[str, Any] = {}
    backend.add_stages(stages, parsed, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(
        target,
        parsed,
        backend.get_codegen_implementation(parsed),
        backend.get_module_map(),
        context,
    )
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        module = stages[stage](module, metadata)
    return module, metadata


def _refusal(error: BaseException, function: Any, constants: dict[str, int]) -> Refused:
    """What Triton's compiler said, on the line of the student's file."""
    from triton.compiler.errors import CompilationError

    deepest: CompilationError | None = None
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, CompilationError):
            deepest = seen
        seen = seen.__cause__ or seen.__context__
    if deepest is None:
        return Refused(_worded(str(error), constants), function.def_file_line_number)
    owner = _owner(deepest, function)
    message = _worded(deepest.error_message or "this construct is not Triton", constants)
    if isinstance(deepest.node, ast.Subscript) and _BRACKETS.search(message):
        base, index = ast.unparse(deepest.node.value), ast.unparse(deepest.node.slice)
        message = (
            f"{base}[{index}]: brackets only add axes in Triton, as in x[:, None]: "
            f"tl.load({base} + {index}) reads memory, with a mask= where the index may lie outside"
        )
    line = getattr(deepest.node, "lineno", None)
    column = getattr(deepest.node, "col_offset", None)
    if owner is None or line is None:
        return Refused(message, function.def_file_line_number)
    indent = owner.def_file_col_number
    return Refused(
        message, owner.def_file_line_number + line - 1, None if column is None else column + indent
    )


def _worded(message: str, constants: dict[str, int]) -> str:
    """Triton's message without Python's wrapping, and with what usually mends it."""
    wrapped = re.fullmatch(r"(\w+Error)\((['\"])(.*)\2\)", message, re.DOTALL)
    if wrapped:
        message = wrapped[3].replace("\\'", "'")
    absent = re.fullmatch(r"module 'triton\.language' has no attribute '(\w+)'", message)
    if absent:
        import triton.language as tl

        close = difflib.get_close_matches(absent[1], dir(tl), n=1)
        hint = f"; did you mean tl.{close[0]}?" if close else ""
        return f"triton.language has no {absent[1]}{hint}"
    if "power of 2" in message:
        sizes = {k: v for k, v in constants.items() if k != "num_stages"}
        odd = [f"{k} = {v}" for k, v in sizes.items() if v < 1 or v & (v - 1)]
        return f"{message} ({', '.join(odd)})" if odd else message
    outside = re.match(r"Cannot access global variable (\w+)", message)
    if outside:
        name = outside[1]
        if inspect.isfunction(getattr(sys.modules.get("submission"), name, None)):
            return f"a kernel cannot call the Python function {name}: write @triton.jit above it"
        return (
            f"a kernel cannot read the global {name}: make it a parameter `{name}: tl.constexpr`, "
            f"or write `{name} = tl.constexpr(…)`"
        )
    if "__setitem__ is not supported" in message:
        return f"{message}: tl.store(pointer + index, value, mask=...) writes memory"
    if "Block pointers have been removed" in message or message.endswith("make_block_ptr"):
        return f"{message} Use tl.make_tensor_descriptor, or pointers and a mask"
    return message


def _owner(error: Any, function: Any) -> Any | None:
    """The function of the student's file whose source the error quotes."""
    from triton.runtime.jit import JITCallable

    for value in [function, *vars(sys.modules["submission"]).values()]:
        candidate = value
        while not isinstance(candidate, JITCallable) and hasattr(candidate, "fn"):
            candidate = candidate.fn
        if isinstance(candidate, JITCallable) and candidate.src == error.src:
            return candidate
    return None
