"""What a student reads: their line, Metal's words, never a place inside our headers."""

from __future__ import annotations

import pytest

from tests.languages.metal.sources import body, compiled, errors

# What is written, the line of it (statements start at 4), and what the message must say.
MISTAKES: list[tuple[str, str, int, str]] = [
    ("missing semicolon", "  float x = b[i]\n  a[i] = x;", 4, "expected ';'"),
    ("undeclared name", "  a[i] = b[j];", 4, "undeclared identifier 'j'"),
    ("unknown function", "  a[i] = sine(b[i]);", 4, "undeclared identifier 'sine'"),
    ("wrong number of arguments", "  a[i] = clamp(b[i], 0.0f);", 4, "no matching function"),
    ("vectors of different lengths", "  a[i] = dot(float3(1), float4(1));", 4, "dot"),
    ("too few components", "  float4 v = float4(1, 2);\n  a[i] = v.x;", 4,
     "no matching constructor"),
    ("swizzle out of range", "  float2 v = 0;\n  a[i] = v.z;", 5, "exceeds type 'float2'"),
    ("write to an input", "  b[i] = 1;", 4, "read-only"),
    ("write to constant memory", "  table[0] = 1;\n  a[i] = 1;", 4, "cannot assign"),
    ("pointer without a space", "  float* p = a;\n  *p = 1;", 4, "device"),
    ("reference without a space", "  float& r = a[i];\n  r = 1;", 4, "device"),
    ("device pointer for a thread one", "  bump(a + i);", 4, "thread memory"),
    ("threadgroup pointer for a device one", "  threadgroup float s[4];\n  store(s);", 5,
     "device"),
    ("pointer to a local without a space", "  float x = 1;\n  float *p = &x;\n  a[i] = *p;", 5,
     "every pointer and reference in Metal names one"),
    ("double", "  double x = b[i];\n  a[i] = x;", 4, "'double' is not supported in Metal"),
    ("restrict", "  device float* restrict p = a;\n  p[i] = 1;", 4,
     "'restrict' is not supported in Metal: write __restrict"),
    ("half as a name", "  uint half = i / 2;\n  a[half] = 1;", 4,
     "'half' is the name of a type in Metal"),
    ("half as a vector's name", "  ushort2 half(1, 2);\n  a[half.x] = 1;", 4,
     "'half' is the name of a type in Metal"),
    ("exceptions", "  throw 1;", 4, "'throw' is not supported in Metal"),
    ("memory allocation", "  float* p = new float[4];\n  a[i] = p[0];", 4, "'new' is not"),
    ("as_type of another size", "  a[i] = as_type<float>(ushort(1));", 4, "same size"),
    ("float index", "  a[b[i]] = 1;", 4, "subscript is not an integer"),
    ("simd of a pointer", "  a[i] = *simd_sum(a);", 4, "no matching function"),
    ("atomic of a float", "  atomic_fetch_max_explicit((device atomic_float*)a, 1.0f, "
     "memory_order_relaxed);", 4, "atomic_fetch_max_explicit"),
    ("plain pointer to an atomic", "  atomic_fetch_add_explicit(a, 1, memory_order_relaxed);", 4,
     "atomic_fetch_add_explicit"),
    ("barrier flags missing", "  threadgroup_barrier();\n  a[i] = 1;", 4, "threadgroup_barrier"),
    ("CUDA's barrier", "  __syncthreads();\n  a[i] = 1;", 4, "__syncthreads"),
    ("CUDA's index", "  int j = threadIdx.x;\n  a[j] = 1;", 4, "threadIdx"),
    ("condition on a vector", "  float4 v = b[i];\n  if (v) a[i] = 1;", 5, "'float4'"),
    ("body of the library", "  a[i] = normalize(int3(1)).x;", 4, "normalize"),
]  # fmt: skip
BEFORE = (
    "constant float table[2] = {1, 2};\n"
    "void bump(thread float* x) { *x += 1; }\nvoid store(device float* x) { *x = 1; }\n"
)


@pytest.mark.parametrize(
    ("text", "line", "said"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES]
)
def test_a_mistake_is_reported_where_it_was_made(text: str, line: int, said: str) -> None:
    whole = body(text).replace("kernel void", BEFORE + "kernel void")
    shift = BEFORE.count("\n")
    found = errors(whole)
    assert {d.file for d in found} == {"kernel.metal"}
    assert found[0].line == line + shift, found
    assert said in found[0].message, found[0].message
    for diagnostic in found:
        for ours in ("metal_", "__make", "__metal", "address_space", "METAL_", "_Float16", "aka"):
            assert ours not in diagnostic.message


def test_columns_point_at_the_written_text() -> None:
    text = "  threadgroup float s[4];   s[0] = vec<float, 4>(1).x + nope;\n  a[i] = 1;"
    (error,) = errors(body(text))
    assert (error.line, error.column) == (4, text.index("nope") + 1)


def test_notes_of_the_library_are_left_out() -> None:
    builds, _ = compiled(body("  a[i] = clamp(b[i]);"))
    assert len(builds[0].diagnostics) == 1


def test_a_warning_names_its_line_and_does_not_stop_the_build() -> None:
    builds, artefact = compiled(body("  if (i = 3) a[i] = b[i];"))
    assert artefact is not None
    (warning,) = builds[0].diagnostics
    assert (warning.severity, warning.line) == ("warning", 4)
    assert "assignment as a condition" in warning.message


def test_an_error_in_a_header_of_the_submission_names_that_file() -> None:
    text = '#include <metal_stdlib>\n#include "mine.h"\n'
    text += "kernel void k(device float* a) { a[0] = f(); }\n"
    builds, artefact = compiled(text, headers={"mine.h": "\ninline float f() { return nope; }\n"})
    assert artefact is None
    assert [(d.file, d.line) for d in builds[0].diagnostics] == [("mine.h", 2)]


ACCEPTED = {
    "references and pointers with their spaces": "  thread float x = b[i]; thread float* p = &x;\n"
    "  device float& r = a[i]; r = *p;",
    "auto keeps the space": "  auto p = a + i; *p = 1;",
    "a copy of a structure": "  struct S { float x, y; }; device S* s = (device S*)a; S t = s[0];\n"
    "  t.x = 2; s[1] = t; a[i] = t.y;",
    "constant through a reference": "  constant float& t = table[1]; a[i] = t;",
    "threadgroup pointer": "  threadgroup float s[8]; threadgroup float* p = s + 1;\n"
    "  *p = 1; a[i] = *p;",
    "a method": "  struct S { float x; float get() const { return x; } }; S s = {b[i]};\n"
    "  a[i] = s.get();",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_is_right_is_not_complained_about(text: str) -> None:
    builds, artefact = compiled(body(text).replace("kernel void", BEFORE + "kernel void"))
    assert artefact is not None, builds[0].diagnostics
    assert builds[0].diagnostics == ()
