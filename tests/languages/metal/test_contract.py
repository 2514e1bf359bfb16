"""Kernels against the assignment's contract: every difference is named where it stands."""

from __future__ import annotations

import pytest

from tests.languages.metal.sources import KERNEL, VEC_ADD, accepted, contract, errors

A, B = "device const float* A [[buffer(0)]]", "device const float* B [[buffer(1)]]"
C, N = "device float* C [[buffer(2)]]", "constant uint& N [[buffer(3)]]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (A, "const device float *A [[buffer(0)]]"),
        (A, "device float* A [[buffer(0)]]"),
        (A, "device const float* A [[ buffer(0) ]]"),
        (f"{A}, {B}", "device const float* A, device const float* B"),
        (N, "constant unsigned int& N [[buffer(3)]]"),
        (N, "const constant uint32_t &N [[buffer(3)]]"),
        ("uint i [[", "ushort i [["),
        ("kernel void", "[[kernel]] void"),
        ("kernel void", "[[max_total_threads_per_threadgroup(256)]] kernel void"),
        ("kernel void", "[[kernel, max_total_threads_per_threadgroup(256)]] void"),
        ("kernel void", "[[kernel]] [[max_total_threads_per_threadgroup(256)]]\nvoid"),
        ("grid]]) {", "grid]]) [[an_attribute_of_nobody]] {"),
        ("grid]]) {", "grid]], ushort t [[thread_position_in_threadgroup]]) {"),
        ("kernel void vec_add", '[[host_name("vec_add")]] kernel void other_name'),
    ],
)
def test_other_spellings_of_the_contract_are_accepted(old: str, new: str) -> None:
    assert old in KERNEL
    accepted(KERNEL.replace(old, new), VEC_ADD)


def test_a_value_may_be_taken_by_pointer() -> None:
    text = KERNEL.replace("constant uint& N", "constant uint* N").replace("i < N", "i < *N")
    accepted(text, VEC_ADD)


def test_a_typedef_and_a_template_instance_are_the_compiler_s_to_judge() -> None:
    accepted(
        KERNEL.replace("kernel", "typedef float real;\nkernel", 1).replace(
            A, A.replace("float", "real")
        ),
        VEC_ADD,
    )
    template = KERNEL.replace("kernel void vec_add", "template <typename T>\nkernel void add")
    template = template.replace(A, A.replace("float", "T"))
    instance = 'template [[host_name("vec_add")]] [[kernel]] decltype(add<{0}>) add<{0}>;\n'
    accepted(template + instance.format("float"), VEC_ADD)
    found = errors(template + instance.format("half"), VEC_ADD)
    assert [d.line for d in found] == [5]
    assert (
        "expected device const float* for A, [[buffer(0)]] of vec_add, found device const T*"
        in (found[0].message)
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            B,
            B.replace("(1)", "(0)"),
            "expected each buffer index once, found [[buffer(0)]] on both A and B",
        ),
        (
            C,
            C.replace("(2)", "(4)"),
            "expected C at [[buffer(2)]], where the host binds it, found C at [[buffer(4)]]",
        ),
        (
            f"{C}, {N}",
            C.replace("C", "X"),
            "expected an argument constant uint& at [[buffer(3)]] of vec_add: the host binds N "
            "there, and the kernel does not read it",
        ),
        (
            N,
            f"{N}, device float* extra [[buffer(7)]]",
            "expected arguments for what the host binds (A at 0, B at 1, C at 2, N at 3), found "
            "extra at [[buffer(7)]], to which nothing is bound",
        ),
        (
            A,
            A.replace("float", "half"),
            "expected device const float* for A, [[buffer(0)]] of vec_add, found device const "
            "half*: its elements are float, not half",
        ),
        (
            C,
            C.replace("device", "constant"),
            "expected device float* for C, [[buffer(2)]] of vec_add, found constant float*: it is "
            "in device memory, not constant",
        ),
        (
            C,
            "device const float* C [[buffer(2)]]",
            "expected device float* for C, [[buffer(2)]] of vec_add, found device const float*: "
            "the kernel writes to it, so it cannot be const",
        ),
        (
            N,
            N.replace("constant uint&", "device const uint&"),
            "expected constant uint& for N, [[buffer(3)]] of vec_add, found device const uint&: it "
            "is in constant memory, not device",
        ),
        (
            N,
            N.replace("uint", "int"),
            "expected constant uint& for N, [[buffer(3)]] of vec_add, found constant int&: its "
            "elements are uint, not int",
        ),
        (
            "uint i [[",
            "float i [[",
            "expected uint, uint2 or uint3 (or ushort, ushort2, ushort3) for "
            "[[thread_position_in_grid]], found float",
        ),
        (
            "[[thread_position_in_grid]]",
            "[[thread_position_in_gird]]",
            "expected a buffer or a position such as [[thread_position_in_grid]] for i, found "
            "uint: [[thread_position_in_gird]] is not one; did you mean "
            "[[thread_position_in_grid]]?",
        ),
        (
            "grid]]) {",
            "grid]], uint index [[thread_index_in_threadgroup]],"
            " uint2 t [[thread_position_in_threadgroup]]) {",
            "expected a number for t [[thread_position_in_threadgroup]], as i "
            "[[thread_position_in_grid]] is, found uint2: the positions and sizes of a kernel have "
            "one number of components",
        ),
        *(
            (
                old,
                new,
                "expected [[max_total_threads_per_threadgroup(256)]] in front of kernel, found it "
                "behind: Metal takes it for an attribute of a type",
            )
            for old, new in (
                ("grid]]) {", "grid]]) [[max_total_threads_per_threadgroup(256)]] {"),
                ("kernel void", "kernel [[max_total_threads_per_threadgroup(256)]] void"),
            )
        ),
        (
            "kernel void vec_add",
            "kernel void vecadd",
            "expected a kernel named vec_add, found vecadd: did you mean vec_add?",
        ),
    ],
)
def test_each_difference_is_named(old: str, new: str, message: str) -> None:
    text = KERNEL.replace("\n                    ", " ")
    assert old in text
    changed = text.replace(old, new).replace("i < N", "i < 8")
    found = errors(changed, VEC_ADD)
    assert message in [d.message for d in found]
    assert all(d.line == 4 for d in found if d.message == message)


def test_without_a_contract_no_kernel_is_left_out_for_an_argument_that_nothing_fills() -> None:
    text = KERNEL.replace("[[thread_position_in_grid]]", "[[thread_position]]")
    (error,) = errors(text)
    assert (error.line, error.column) == (6, 21)
    assert "[[thread_position]] is not one" in error.message


def test_a_function_that_is_no_kernel_is_told_so() -> None:
    (error,) = errors(
        KERNEL.replace("kernel void", "void").replace("constant uint&", "uint"), VEC_ADD
    )
    assert (
        "found a function of that name that is no kernel: write kernel before it" in error.message
    )


def test_no_kernel_at_all() -> None:
    (error,) = errors("#include <metal_stdlib>\n", VEC_ADD)
    assert error.message.endswith("found no kernel at all")


def test_a_syntax_error_is_what_is_reported_first_of_all() -> None:
    found = errors(KERNEL.replace("uint i [[thread_position_in_grid]]) {", "uint i {"), VEC_ADD)
    assert any("expected ')'" in d.message for d in found)


def test_indices_without_attributes_fill_the_free_places() -> None:
    one = contract("k", "a: device float* [[buffer(0)]]", "b: device float* [[buffer(1)]]")
    text = (
        "#include <metal_stdlib>\n"
        "kernel void k(device float* x, device float* y [[buffer(0)]]) { x[0] = y[0]; }\n"
    )
    ptx = accepted(text, one).variants[0].ptx
    # y is the contract's first argument.
    assert ptx.index("ld.global") < ptx.index("st.global")
    first = [line for line in ptx.splitlines() if "ld.param" in line]
    assert {"k_param_0", "k_param_1"} == {line.split("[")[1].split("]")[0] for line in first}
