"""Declarations of the three languages: name, type, what is passed for it."""

from __future__ import annotations

import pytest

from grader.parameters import Meaning, is_argument, meaning, split


@pytest.mark.parametrize(
    ("language", "text", "name", "declared", "means"),
    [
        ("cuda-c", "const float* A", "A", "const float*", Meaning(True, True, "float32")),
        ("cuda-c", "const float *A", "A", "const float *", Meaning(True, True, "float32")),
        ("cuda-c", "unsigned  int n", "n", "unsigned int", Meaning(False, False, "uint32")),
        ("cuda-c", "unsigned long long* n", "n", "unsigned long long*",
         Meaning(True, False, "uint64")),
        ("cuda-c", "__half* h", "h", "__half*", Meaning(True, False, "float16")),
        ("cuda-c", "float4* v", "v", "float4*", Meaning(True, False, None)),
        ("metal", "device const float* A [[buffer(0)]]", "A",
         "device const float* [[buffer(0)]]", Meaning(True, True, "float32")),
        ("metal", "constant uint& N [[buffer(3)]]", "N", "constant uint& [[buffer(3)]]",
         Meaning(False, False, "uint32")),
        ("triton", "x_ptr: *fp16", "x_ptr", "*fp16", Meaning(True, False, "float16")),
        ("triton", "n : i32", "n", "i32", Meaning(False, False, "int32")),
    ],
)  # fmt: skip
def test_declarations(language: str, text: str, name: str, declared: str, means: Meaning) -> None:
    found = split(text, language)
    assert (found.name, found.type) == (name, declared)
    assert meaning(found.type, language) == means


@pytest.mark.parametrize(
    ("language", "text"),
    [("cuda-c", "float*"), ("cuda-c", "A"), ("cuda-c", ""), ("cuda-c", "float A[4]"),
     ("triton", "x"), ("triton", "x:"), ("triton", "1x: i32")],
)  # fmt: skip
def test_no_declaration(language: str, text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        split(text, language)


def test_what_the_host_passes() -> None:
    assert is_argument("device float* [[buffer(0)]]", "metal")
    assert is_argument("device float*", "metal")
    assert not is_argument("uint [[thread_position_in_grid]]", "metal")
    assert is_argument("i32", "triton")
    assert not is_argument("constexpr", "triton")
