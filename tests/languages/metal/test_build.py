"""The build as the pipeline sees it: sandboxed, two variants, diagnostics with places."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from grader import vgpu
from grader.errors import NotGradableError
from grader.languages import metal
from grader.languages.metal_compile import compile_submission
from tests.languages.metal.sources import KERNEL, VEC_ADD, accepted, body, compiled, errors


def test_a_kernel_of_ours_compiles_here() -> None:
    assert metal.missing() is None


def test_a_sandboxed_build_equals_one_in_this_process() -> None:
    builds, artefact = metal.build(KERNEL, "kernel.metal", (VEC_ADD,))
    assert artefact == accepted(KERNEL, VEC_ADD)
    assert [(b.ok, b.compiler) for b in builds] == [(True, "clang")] * 2


def test_a_sandboxed_build_that_fails_returns_its_diagnostics() -> None:
    builds, artefact = metal.build(KERNEL.replace("+ B[i];", "+ B[i]"), "kernel.metal", (VEC_ADD,))
    assert artefact is None
    found = builds[0].diagnostics
    assert [(d.line, d.column, d.message) for d in found] == [
        (7, 32, "expected ';' after expression")
    ]


def test_the_request_and_the_reply_are_plain_json(
    tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # type: ignore[arg-type]  # a Path
    request = {
        "text": KERNEL,
        "file_name": "a.metal",
        "contracts": [VEC_ADD.model_dump()],
        "headers": {},
        "kernels": [],
        "precompiled": None,
    }
    reply, blobs = metal.build_job(json.loads(json.dumps(request)), [])
    assert json.loads(json.dumps(reply)) == reply
    assert [b".visible .entry vec_add(" in blob for blob in blobs] == [True, True]


def test_the_entry_takes_the_contract_s_arguments_in_order() -> None:
    text = accepted(KERNEL, VEC_ADD).variants[0].ptx
    listed = re.findall(r"\.param (\.\w+)(?: \.ptr \.\w+ \.align \d+)? vec_add_param_(\d)", text)
    assert listed[:4] == [(".u64", "0"), (".u64", "1"), (".u64", "2"), (".u32", "3")]


def test_a_swapped_declaration_order_does_not_move_the_arguments() -> None:
    swapped = KERNEL.replace(
        "device const float* A [[buffer(0)]], device const float* B [[buffer(1)]],\n",
        "device const float* B [[buffer(1)]], device const float* A [[buffer(0)]],\n",
    )
    assert swapped != KERNEL
    (plain, _), (other, _) = (accepted(t, VEC_ADD).variants for t in (KERNEL, swapped))
    strip = re.compile(r"^\s*(?:\.loc|\$L__tmp|//).*\n", re.MULTILINE)
    assert strip.sub("", plain.ptx) == strip.sub("", other.ptx)


def test_lines_and_columns_are_the_student_s() -> None:
    text = body(
        "  threadgroup float tile[64], other[2];\n"
        "  tile[i % 64] = a[i] + vec<float, 4>(1, 2, 3, 4).y + b[i];\n"
        "  a[i] = tile[0] + other[0];"
    )
    lines = text.splitlines()
    debug = accepted(text).variants[1].ptx
    own = re.search(r'^\s*\.file\s+(\d+) "kernel\.metal"', debug, re.MULTILINE)
    assert own is not None
    loads = re.findall(rf"\.loc\s+{own[1]} (\d+) (\d+)[^\n]*\n\s*(?!\.loc)", debug)
    assert {line for line, _ in loads} >= {"5", "6"}
    places = {(int(line), int(column)) for line, column in loads}
    assert (5, lines[4].index("b[i]") + 1) in places
    assert (6, lines[5].index("tile[0]") + 1) in places


def test_the_unoptimised_build_keeps_accesses_that_the_optimised_one_drops() -> None:
    text = body("  threadgroup float s[4];\n  s[0] = 1;\n  float x = b[i];\n  if (i < 9) a[i] = x;")
    optimised, debug = (v.ptx for v in accepted(text).variants)
    assert "st.shared" not in optimised
    assert "st.shared" in debug
    # The read is where it was written, in front of the branch.
    assert optimised.index("bra") < optimised.index("ld.global")
    assert debug.index("ld.global") < debug.index("bra")


def test_constants_of_the_launch_are_read_from_the_source() -> None:
    declared = KERNEL.replace("kernel", "constant constexpr uint BLOCK = 128;\nkernel", 1)
    assert accepted(declared, VEC_ADD).variants[0].constants == {"BLOCK": 128}
    macro = KERNEL.replace("kernel", "#define BLOCK (1 << 6)\nkernel", 1)
    assert accepted(macro, VEC_ADD).variants[0].constants == {"BLOCK": 64}
    assert accepted(KERNEL, VEC_ADD).variants[0].constants == {}


@pytest.mark.parametrize("name", ["transpose", "fma", "select"])
def test_a_kernel_may_have_the_name_of_a_library_function(name: str) -> None:
    text = KERNEL.replace("vec_add", name)
    assert name in text
    assert name in accepted(text).variants[0].entries


def test_threadgroup_memory_is_counted_and_limited() -> None:
    small = body("  threadgroup float s[64];\n  s[i % 64] = b[i];\n  a[i] = s[0];")
    assert accepted(small).variants[1].shared_bytes == {"k": 256}
    (error,) = errors(small.replace("s[64]", "s[8193]"))
    assert error.message.startswith(
        "expected at most 32768 bytes of threadgroup memory, found 32772"
    )


def test_max_total_threads_reach_the_ptx() -> None:
    text = KERNEL.replace("kernel void", "[[max_total_threads_per_threadgroup(64)]] kernel void")
    assert ".maxntid 64" in accepted(text, VEC_ADD).variants[0].ptx


def test_equal_sources_give_equal_ptx_whatever_the_folder() -> None:
    assert accepted(KERNEL, VEC_ADD) == accepted(KERNEL, VEC_ADD)
    assert "/" not in "".join(
        re.findall(r'\.file\s+\d+ "([^"]*)"', accepted(KERNEL, VEC_ADD).variants[0].ptx)
    )


@pytest.mark.parametrize(
    ("declaration", "word"),
    [
        ("texture2d<float> t [[texture(0)]]", "texture2d"),
        ("sampler s [[sampler(0)]]", "sampler"),
        ("depth2d<float> t [[texture(1)]]", "depth2d"),
        ("raytracing::instance_acceleration_structure s [[buffer(1)]]", "raytracing"),
        ("visible_function_table<int(int)> t [[buffer(1)]]", "visible_function_table"),
    ],
)
def test_what_no_device_has_is_not_gradable_with_its_line(declaration: str, word: str) -> None:
    text = (
        "#include <metal_stdlib>\n// texture2d in a comment is none\n"
        f"kernel void k(device float* a [[buffer(0)]],\n {declaration}) {{ a[0] = 1; }}\n"
    )
    with pytest.raises(NotGradableError, match=rf"kernel\.metal:4: {word} is not supported"):
        compiled(text)


def test_another_file_of_the_submission_can_be_included() -> None:
    text = '#include "mine.h"\n' + KERNEL.replace("A[i] + B[i]", "mine(A[i], B[i])")
    header = "inline float mine(float a, float b) { return a + b; }\n"
    builds, artefact = compiled(text, VEC_ADD, headers={"mine.h": header})
    assert artefact is not None, builds


def test_a_namespace_of_the_file_may_be_called_metal_too() -> None:
    inner = "template <typename T> T pair(float x) { return T(x, x); }"
    text = KERNEL.replace(
        "kernel void", f"namespace c10 {{ namespace metal {{ {inner} }} }}\nkernel void", 1
    )
    text = text.replace("A[i]", "c10::metal::pair<float2>(A[i]).x", 1)
    assert accepted(text, VEC_ADD).variants[0].entries == {"vec_add": "vec_add"}


def test_the_library_parsed_beforehand_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = KERNEL.replace("A[i] + B[i]", "sin(A[i]) + dot(float2(A[i]), float2(B[i], 1))")
    _, artefact = compile_submission(text, "kernel.metal", (VEC_ADD,), headers={})
    assert artefact == accepted(text, VEC_ADD)


def test_the_library_is_there_without_its_include() -> None:
    """Apple's compiler knows it, too: public kernels rely on it and write `metal::`."""
    bare = "kernel void k(device float* a, uint i [[thread_position_in_grid]]) {{ a[i] = {}; }}\n"
    accepted(bare.format("metal::sin(a[i]) + float3(float2(1), 2).z"))
    found = errors(bare.format("sin(a[i])"))
    assert any("sin" in d.message and d.line == 1 for d in found)


def test_host_names_that_ptx_cannot_spell_are_entries_too() -> None:
    text = (
        "#include <metal_stdlib>\nnamespace mine { kernel void k(device int* a) { a[0] = 1; } }\n"
        "template <typename T> kernel void add(device T* a) { a[0] += 1; }\n"
        'template [[host_name("add<float> (1)")]] kernel void add<float>(device float*);\n'
    )
    entries = accepted(text).variants[0].entries
    assert set(entries) == {"mine::k", "add<float> (1)"}
    assert all(re.fullmatch(r"\w+", symbol) for symbol in entries.values())


def test_threadgroup_arguments_may_be_references() -> None:
    accepted(
        "#include <metal_stdlib>\nkernel void k(device float* a, threadgroup float4& s "
        "[[threadgroup(0)]], threadgroup metal::float2x2& m [[threadgroup(1)]]) "
        "{ s.x = a[0]; m[1] = s.xy; a[1] = s.x; }\n"
    )


def test_methods_for_every_address_space_become_one() -> None:
    accepted(
        "#include <metal_stdlib>\nstruct D {\n  float v;\n"
        "  D() = default;\n  D() threadgroup = default;\n"
        "  float get() const device { return v; }\n  float get() const threadgroup { return v; }\n"
        "  float get() const { return v; }\n  float get() const constant { return v; }\n"
        "  void set(float x) threadgroup { v = x; }\n  void set(float x) device { v = x; }\n};\n"
        "kernel void k(device D* d, constant D& c) {\n  threadgroup D t;\n  t.set(c.get());\n"
        "  d[0].set(t.get() + d[1].get());\n}\n"
    )


def test_a_kernel_in_a_header_keeps_its_lines() -> None:
    """The header is met by two names: as the include wrote it, and as the entry says it."""
    header = (
        "template <typename T> kernel void sums(device T* a [[buffer(0)]],\n"
        "    uint i [[thread_index_in_threadgroup]]) {\n"
        "  threadgroup T part[32];\n"
        "  if (i == 0) part[0] = a[0];\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "  T x = part[i % 32];\n"
        "  a[i] = simd_sum(x);\n"
        "}\n"
    )
    text = (
        '#include <metal_stdlib>\nusing namespace metal;\n#include "deep/sums.h"\n'
        'template [[host_name("sums")]] kernel void sums<float>(device float*, uint);\n'
    )
    _, artefact = compiled(text, headers={"deep/sums.h": header})
    assert artefact is not None
    for variant in artefact.variants:
        files = re.findall(r'\.file\s+\d+ "([^"]*)"', variant.ptx)
        assert files == ["deep/sums.h"]
        kernel = vgpu.Module.from_ptx(variant.ptx).kernel("sums")
        launch = vgpu.launch(kernel, 1, 32, [np.zeros(32, np.float32)])
        (fault,) = launch.faults  # what was read, and where the sum of it is used
        assert (fault.kind, fault.buffer, fault.file, fault.line) == (
            "uninitialised", "part", "deep/sums.h", 6,
        )  # fmt: skip
        assert fault.other is not None
        assert (fault.other.file, fault.other.line) == ("deep/sums.h", 7)


POSITION_OUTSIDE = """#include <metal_stdlib>
using namespace metal;
uint3 place [[thread_position_in_grid]];
ushort2 size [[threads_per_threadgroup]];
namespace inner {
uint lane [[thread_index_in_simdgroup]];
uint twice() { return 2 * place.x; }
kernel void k(device uint* o) { o[place.x] = twice() + 100 * size.x + 1000 * lane; }
}
kernel void own(device uint* o, uint place [[thread_position_in_threadgroup]]) { o[place] = place; }
"""


def test_a_position_may_be_a_variable_outside_of_functions() -> None:
    for variant in accepted(POSITION_OUTSIDE).variants:
        for name, expected in (("inner::k", [400, 1402, 2404, 3406]), ("own", [0, 1, 2, 3])):
            out = np.zeros(4, np.uint32)
            kernel = vgpu.Module.from_ptx(variant.ptx).kernel(variant.entries[name])
            assert vgpu.launch(kernel, 1, 4, [out]).faults == ()
            assert out.tolist() == expected


def test_what_the_preprocessor_passes_over_is_no_reason_not_to_grade() -> None:
    unused = (
        "#if defined(HAS_TENSORS)\n#include <MetalPerformancePrimitives/any.h>\n"
        "using mpp::tensor_ops::matmul2d;\n#endif\n#define READ(t) texture2d<float> t\n"
    )
    artefact = accepted(unused + KERNEL, VEC_ADD)
    assert "texture" not in artefact.variants[0].ptx
    with pytest.raises(NotGradableError, match=r"^kernel\.metal:9: texture2d is not supported"):
        compiled(unused + KERNEL.replace("kernel void", "READ(one);\nkernel void"), VEC_ADD)


def test_a_buffer_bound_outside_of_functions_is_not_gradable() -> None:
    text = (
        "constant float* constant t [[buffer(3)]];\nkernel void k(device float* o) { o[0] = t[0]; }"
    )
    with pytest.raises(
        NotGradableError, match=r"^kernel\.metal:1: t is not supported: .*argument$"
    ):
        compiled(text)


def test_what_follows_from_a_wrong_argument_is_not_said() -> None:
    text = "kernel void k(device Nope* a, device float* b) { b[0] = 1; }"
    assert [d.message for d in errors(text)] == ["unknown type name 'Nope'"]


def test_words_of_the_first_metal_and_of_indirect_dispatch() -> None:
    accepted(
        "kernel void k(device MTLDispatchThreadgroupsIndirectArguments* a) {\n"
        "  metal::threadgroup_barrier(metal::mem_flags::mem_device_and_threadgroup);\n"
        "  a[0] = {1u, 2u, 3u};\n}"
    )


@pytest.mark.parametrize(
    "declaration",
    [
        "threadgroup __attribute__((aligned(16))) float s[64];",
        "__attribute__((aligned(16))) threadgroup float s[64];",
        "alignas(16) threadgroup float s[64];",
    ],
)
def test_threadgroup_memory_may_ask_for_alignment(declaration: str) -> None:
    text = body(
        f"  {declaration}\n  s[i] = b[i];\n"
        "  threadgroup_barrier(metal::mem_flags::mem_threadgroup);\n  a[i] = s[63 - i];"
    )
    variant = accepted(text).variants[0]
    assert re.search(r"\.shared \.align 16 ", variant.ptx)
    a, b = np.zeros(64, np.float32), np.arange(64, dtype=np.float32)
    assert vgpu.launch(vgpu.Module.from_ptx(variant.ptx).kernel("k"), 1, 64, [a, b]).faults == ()
    assert list(a) == list(b[::-1])
