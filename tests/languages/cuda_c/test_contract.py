"""The contract is judged by the compiler; the wording names what was expected and found."""

from __future__ import annotations

import pytest

from grader.languages import Contract, Parameter
from tests.languages.cuda_c.sources import KERNEL, VEC_ADD, accepted, compiled, errors

EXPECTED = "__global__ void vec_add(const float* A, const float* B, float* C, int N)"


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        f'extern "C" {KERNEL}',
        f"static {KERNEL}",
        KERNEL.replace("const float* A", "float const* __restrict__ x").replace("A[i]", "x[i]"),
        KERNEL.replace("int N", "const int N").replace("float* C", "float* const C"),
        KERNEL.replace("__global__ void", "__global__ void __launch_bounds__(256)"),
        f"template <typename T> {KERNEL.replace('float', 'T')}",
        f"template <int UNROLL = 4> {KERNEL}",
        f"__global__ void vec_add(double*) {{}}\n{KERNEL}",
        f"typedef float real;\n{KERNEL.replace('float', 'real')}",
        f"#define ENTRY vec_add\n{KERNEL.replace('vec_add', 'ENTRY')}",
        f"#define static_assert nonsense\n#define sizeof nonsense\n{KERNEL}",
    ],
)
def test_what_has_the_right_type_is_accepted(text: str) -> None:
    artefact = accepted(text)
    for variant in artefact.variants:
        assert f".entry {variant.entries['vec_add']}(" in variant.ptx


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            KERNEL.replace("vec_add", "vec_ad"),
            "1:17: expected a kernel named vec_add, found vec_ad: did you mean vec_add?",
        ),
        (
            KERNEL.replace("vec_add", "other"),
            f"1:17: expected {EXPECTED}, found other kernels: other",
        ),
        ("", f":: expected {EXPECTED}, found no kernel at all"),
        (
            KERNEL.replace("__global__", "__device__"),
            f"1:17: expected {EXPECTED}, found a __device__ function of that name: "
            "write __global__ before it",
        ),
        (
            KERNEL.replace("__global__ ", ""),
            f"1:6: expected {EXPECTED}, found a host function of that name: "
            "write __global__ before it",
        ),
        (
            KERNEL.replace("int N", "unsigned N"),
            "1:67: expected int for parameter 4 of vec_add (N), found unsigned int",
        ),
        (
            KERNEL.replace("int N", "size_t N"),
            "1:67: expected int for parameter 4 of vec_add (N), found size_t",
        ),
        (
            KERNEL.replace("const float* A", "const double* A"),
            "1:25: expected const float* for parameter 1 of vec_add (A), found const double*",
        ),
        (
            KERNEL.replace("float* C", "const float* C").replace("C[i] =", "*(float*)&C[i] ="),
            "1:57: expected float* for parameter 3 of vec_add (C), found const float*",
        ),
        (
            KERNEL.replace(", int N", "").replace("N", "9"),
            "1:17: expected 4 parameters (const float*, const float*, float*, int) for vec_add, "
            "found 3 (const float*, const float*, float*)",
        ),
        (
            f"template <int TILE>\n{KERNEL}",
            f"2:17: expected {EXPECTED}, found a template whose parameters (TILE) do not all "
            "follow from the argument types: give those a default",
        ),
    ],
)
def test_what_has_another_type_is_named(text: str, expected: str) -> None:
    assert errors(text) == [expected]


@pytest.mark.parametrize("inputs", ["A", "B", "AB"])
def test_inputs_may_be_declared_without_const(inputs: str) -> None:
    text = KERNEL
    for name in inputs:
        text = text.replace(f"const float* {name}", f"float *{name}")
    assert text != KERNEL and accepted(text).variants
    wrong = text.replace("int N", "long N")
    assert errors(wrong)[-1].endswith("for parameter 4 of vec_add (N), found long")


def test_every_wrong_parameter_has_its_own_message() -> None:
    text = KERNEL.replace("const float* A", "double* A").replace("int N", "long N")
    assert [message.split(" for ")[1] for message in errors(text)] == [
        "parameter 1 of vec_add (A), found double*",
        "parameter 4 of vec_add (N), found long",
    ]


def test_a_macro_cannot_change_what_the_contract_expects() -> None:
    (message,) = errors(f"#define float double\n{KERNEL}")
    assert message.startswith(f"2:17: expected {EXPECTED}")


def test_a_trailing_backslash_does_not_hide_the_contract() -> None:
    text = KERNEL.replace("int N", "unsigned N") + "// \\"
    assert errors(text) == ["1:67: expected int for parameter 4 of vec_add (N), found unsigned int"]


def test_the_submission_s_own_errors_come_before_the_contract_s() -> None:
    text = KERNEL.replace("vec_add", "vec_ad").replace("B[i]", "D[i]")
    assert errors(text) == ['3:28: identifier "D" is undefined']


@pytest.mark.parametrize(
    ("declaration", "value"),
    [
        ("constexpr int BLOCK = 128;", 128),
        ("const int BLOCK = 4 * 16;", 64),
        ("static const unsigned BLOCK = 32;", 32),
        ("#define BLOCK (1 << 5)", 32),
        ("enum { BLOCK = 96 };", 96),
        ("constexpr int HALF = 64; constexpr long long BLOCK = HALF * 2;", 128),
        ("constexpr int BLOCK = 0;", 0),
        ("constexpr int BLOCK = -1;", -1),
        ("// BLOCK is not declared here", None),
        ("", None),
    ],
)
def test_constants_are_evaluated_by_the_compiler(declaration: str, value: int | None) -> None:
    artefact = accepted(f"{declaration}\n{KERNEL}")
    declared = {} if value is None else {"BLOCK": value}
    assert [variant.constants for variant in artefact.variants] == [declared] * 2
    assert all("grade_constant" not in variant.ptx for variant in artefact.variants)


@pytest.mark.parametrize(
    "declaration",
    ["constexpr float BLOCK = 64.0f;", "int BLOCK = 64;", '#define BLOCK "64"', "#define BLOCK x"],
)
def test_a_constant_that_is_none_is_named(declaration: str) -> None:
    (message,) = errors(f"\n{declaration}\n{KERNEL}")
    assert message.startswith("2:: expected BLOCK to be an integer constant")
    assert "constexpr int BLOCK = 256;" in message


def test_a_constant_inside_a_function_leaves_the_default_and_a_warning() -> None:
    builds, artefact = compiled(KERNEL.replace("int i", "const int BLOCK = 64; int i"))
    assert artefact is not None
    assert artefact.variants[0].constants == {}
    assert "the launch takes BLOCK = 256" in builds[0].diagnostics[0].message


def test_several_kernels_are_all_judged() -> None:
    second = Contract(kernel="scale", parameters=(Parameter(name="x", type="float4*"),))
    good = f"{KERNEL}__global__ void scale(float4* x) {{ x[threadIdx.x].y = 1.0f; }}\n"
    assert set(accepted(good, VEC_ADD, second).variants[0].entries) == {"vec_add", "scale"}
    assert errors(good.replace("float4* x", "float2* x"), VEC_ADD, second) == [
        "5:23: expected float4* for parameter 1 of scale (x), found float2*"
    ]
