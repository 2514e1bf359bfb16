"""Parameter declarations of CUDA C, Metal and Triton, as assignments write them.

    const float* A                            CUDA C
    device const float* A [[buffer(0)]]       Metal
    a_ptr: *fp32                              Triton

Only what assignments need is understood: one name, one scalar or pointer type. Whether a
student's kernel has these types is for the compiler to judge.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from grader.languages import Parameter

_DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "__half": "float16",
    "bool": "uint8", "char": "int8", "signed char": "int8", "int8_t": "int8",
    "unsigned char": "uint8", "uchar": "uint8", "uint8_t": "uint8",
    "short": "int16", "int16_t": "int16", "unsigned short": "uint16", "ushort": "uint16",
    "uint16_t": "uint16", "int": "int32", "int32_t": "int32", "unsigned": "uint32",
    "unsigned int": "uint32", "uint": "uint32", "uint32_t": "uint32",
    "atomic_float": "float32", "atomic_int": "int32", "atomic_uint": "uint32",
    "long": "int64", "long long": "int64", "int64_t": "int64", "unsigned long": "uint64",
    "unsigned long long": "uint64", "ulong": "uint64", "uint64_t": "uint64", "size_t": "uint64",
    "fp16": "float16", "fp32": "float32", "fp64": "float64", "i1": "uint8",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip
_QUALIFIERS = {"const", "device", "constant", "threadgroup", "thread", "volatile", "restrict",
               "__restrict__", "__restrict"}  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"\[\[\s*(\w+)\s*(?:\([^)]*\))?\s*\]\]")


class Meaning(NamedTuple):
    """What a declared type says: `dtype` is None for a type the grader has no name for."""

    pointer: bool
    read_only: bool
    dtype: str | None


@functools.cache
def split(text: str, language: str) -> Parameter:
    """A declaration as name and type; for Metal the attribute stays with the type.

    Raises ValueError when there is no name.
    """
    if language == "triton":
        name, colon, declared = (part.strip() for part in text.partition(":"))
        if not colon or not name.isidentifier() or not declared:
            raise ValueError(f"expected `name: type` such as `a_ptr: *fp32`, found {text!r}")
        return Parameter(name=name, type=declared)
    attributes = " ".join(found.group() for found in _ATTRIBUTE.finditer(text))
    declaration = _ATTRIBUTE.sub("", text).strip()
    words = list(_WORD.finditer(declaration))
    if not words or words[-1].end() != len(declaration) or words[-1].start() == 0:
        raise ValueError(f"expected a type and a name such as `const float* A`, found {text!r}")
    last = words[-1]
    declared = " ".join(declaration[: last.start()].split())
    return Parameter(name=last.group(), type=f"{declared} {attributes}".strip())


@functools.cache
def meaning(declared: str, language: str) -> Meaning:
    """What a type of `split` says about the argument that is passed for it."""
    if language == "triton":
        pointer = declared.startswith("*")
        return Meaning(pointer, False, _DTYPES.get(declared.removeprefix("*")))
    plain = _ATTRIBUTE.sub("", declared)
    words = _WORD.findall(plain)
    element = " ".join(word for word in words if word not in _QUALIFIERS)
    const = "const" in words or "constant" in words
    return Meaning("*" in plain, const and "*" in plain, _DTYPES.get(element))


@functools.cache
def is_argument(declared: str, language: str) -> bool:
    """Whether the host passes it: not Metal's positions in the grid, nor Triton's constexprs."""
    if language == "triton":
        return declared not in ("constexpr", "tl.constexpr")
    attributes = _ATTRIBUTE.findall(declared)
    return language != "metal" or not attributes or "buffer" in attributes
