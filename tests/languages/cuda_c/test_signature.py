"""Functions as they are written: names, parameter types in one spelling, places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.languages.signature import canonical_type, functions, kernels

BASES = ["int", "unsigned int", "float", "double", "float4", "half", "long long", "size_t"]


@pytest.mark.parametrize(
    ("spelling", "type_"),
    [
        ("float const *", "const float*"),
        ("const float *__restrict__ a", "const float*"),
        ("const float* const a", "const float*"),
        ("float a[]", "float*"),
        ("float a[16]", "float*"),
        ("unsigned", "unsigned int"),
        ("int unsigned n", "unsigned int"),
        ("long long int n", "long long"),
        ("unsigned long int", "unsigned long"),
        ("const int n", "int"),
        ("volatile float* p", "volatile float*"),
        ("float** p", "float**"),
        ("const float* const* p", "const float* const*"),
        ("const float& x", "const float&"),
        ("struct Params p", "Params"),
        ("int n = 3", "int"),
        ("std::size_t n", "std::size_t"),
    ],
)
def test_one_spelling_per_type(spelling: str, type_: str) -> None:
    assert canonical_type(spelling) == type_


@given(
    base=st.sampled_from(BASES),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    stars=st.integers(0, 2),
    space=st.sampled_from(["", " ", "\n", " /* x */ "]),
)
def test_spacing_restrict_and_top_level_const_do_not_matter(
    base: str, flags: tuple[bool, bool, bool], stars: int, space: str
) -> None:
    const, restrict, top_const = flags
    plain = f"{'const ' if const and stars else ''}{base}{'*' * stars}"
    quals = f"{' __restrict__' if restrict and stars else ''}{' const' if top_const else ''}"
    west = f"{'const ' if const else ''}{base}{space}{'*' * stars}{quals} x"
    east = f"{base}{' const' if const else ''} {'*' * stars}{space}{quals} x"
    assert canonical_type(west) == plain
    assert canonical_type(east) == plain


def test_kernels_are_found_wherever_they_stand() -> None:
    text = """
extern "C" __global__ void __launch_bounds__(256, 2) a(const float* x, unsigned) {}
template <typename T, int N = 4, class U> static __global__ void b(T* x, int n) {}
namespace inner { void __global__ c(void) {} }
extern "C" { __global__ void d(float2 p) {} }
__global__ void e(int n);
__global__ void e(int n) { }
__device__ float f(float x) { return x; }
int main() { a<<<1, 2>>>(x, 3); }
"""
    found = {k.name: k for k in kernels(text)}
    assert list(found) == ["a", "b", "c", "d", "e"]
    assert [(p.name, p.type, p.line) for p in found["a"].parameters] == [
        ("x", "const float*", 2),
        ("", "unsigned int", 2),
    ]
    assert found["a"].parameters[0].pointer
    assert found["a"].parameters[0].element == "float"
    assert found["b"].template_parameters == ("T", "N", "U")
    assert found["c"].parameters == ()
    assert (found["e"].line, found["e"].column) == (7, 17)
    kinds = [(f.name, f.kernel, f.device) for f in functions(text)][-2:]
    assert kinds == [("f", False, True), ("main", False, False)]


@given(st.text(alphabet="abc(){}<>;,*&_ \n\"'#/\\__global__voidint", max_size=200))
def test_no_text_makes_the_reading_fail(text: str) -> None:
    for function in functions(text):
        assert function.line >= 1
