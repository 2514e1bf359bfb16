"""What can be included, and that nothing else can."""

from __future__ import annotations

import pytest

from grader.languages.cuda_includes import (
    host_headers,
    includes,
    resolve,
    without_line_directives,
)
from tests.languages.cuda_c.sources import KERNEL, accepted, compiled, errors


@pytest.mark.parametrize(
    "directive",
    [
        '#include "/etc/passwd"',
        "#include </etc/passwd>",
        '#include "../etc/passwd"',
        '#include "a/../../etc/passwd"',
        '# \\\n include "/etc/passwd"',
        '#inc\\\nlude "/etc/passwd"',
        '%:include "/etc/passwd"',
        '/* */ #include "/etc/passwd"',
        '#include /* x */ "/etc/passwd"',
        'const char* s = R"(/*)";\n#include "/etc/passwd"\n/* */',
        '#define F "/etc/passwd"\n#include F',
        '#include_next "/etc/passwd"',
        '#import "/etc/passwd"',
        '#embed "/etc/passwd"',
    ],
)
def test_other_files_are_refused_before_anything_is_opened(directive: str) -> None:
    builds, artefact = compiled(f"{directive}\n{KERNEL}")
    assert artefact is None
    assert len(builds[0].diagnostics) == 1
    assert builds[0].diagnostics[0].message.startswith("expected ")
    assert "root:" not in builds[0].model_dump_json()


def test_a_file_that_slips_through_is_not_quoted() -> None:
    # The file's name is relative: only the compiler finds that it is not there.
    text = f'#include "passwd"\n#include "etc/passwd"\n{KERNEL}'
    builds, artefact = compiled(text)
    assert artefact is not None
    assert "root:" not in artefact.variants[0].ptx
    assert len(builds[0].diagnostics) == 2


def test_includes_in_comments_and_strings_are_no_includes() -> None:
    text = (
        '// #include "/a"\n/*\n#include "/b"\n*/ const char* s = "\\\n#include <c>";\n#include <d>'
    )
    assert list(includes(text)) == [(6, "include", "<d>")]
    found = resolve({"x.cu": text}, None)
    assert found.forbidden == ()
    assert found.missing == {"d": ("x.cu", 6)}


def test_line_directives_move_no_line() -> None:
    text = '#define line 3\n#line 7\n%: line \\\n 8\n# 9 "cuda_runtime.h" 2\n// #line 1\nint a;\n'
    kept = without_line_directives(text)
    assert kept == "#define line 3\n\n\n\n\n// #line 1\nint a;\n"
    for number in (1, 90):
        wrong = f'#line {number} "cuda_runtime.h"\n{KERNEL.replace("A[i]", "missing")}'
        assert errors(wrong)[0].startswith("4:")
        host = f"#line {number}\nint main() {{ return system(0); }}\n{KERNEL}"
        assert '.file\t1 "vec_add.cu"' in accepted(host).variants[0].ptx


def test_files_of_the_submission_find_each_other() -> None:
    files = {
        "main.cu": '#include "lib/a.cuh"\n#include "b.cuh"\n#include "absent.h"',
        "lib/a.cuh": '#include "detail/c.cuh"\n#include "../b.cuh"\n#include "../../out.h"',
        "lib/detail/c.cuh": "#pragma once",
        "b.cuh": "int b;",
    }
    found = resolve(files, None)
    assert found.headers["detail/c.cuh"] == "#pragma once"
    assert found.headers["../b.cuh"] == "int b;"
    assert found.missing == {"absent.h": ("main.cu", 3)}
    assert [(d.file, d.line) for d in found.forbidden] == [("lib/a.cuh", 3)]


def test_a_missing_header_that_is_not_reached_is_not_mentioned() -> None:
    builds, _ = compiled(f"#ifdef _WIN32\n#include <d3d12.h>\n#endif\n{KERNEL}")
    assert builds[0].diagnostics == ()


@pytest.mark.parametrize("header", sorted(host_headers()))
def test_every_host_header_compiles_beside_a_kernel(header: str) -> None:
    accepted(f"#include <{header}>\n#include <{header}>\n{KERNEL}")


@pytest.mark.parametrize(
    ("header", "expression"),
    [
        ("cstdint", "(float)(uint8_t)N + (float)(std::int64_t)N"),
        ("stdint.h", "(float)(uint32_t)INT32_MAX"),
        ("cmath", "std::sqrt(A[i]) + std::abs(A[i]) + std::fmax(A[i], 1.0f)"),
        ("math.h", "sqrtf(A[i]) * M_PI + INFINITY"),
        ("limits", "std::numeric_limits<float>::max() + std::numeric_limits<int>::lowest()"),
        ("limits", "-std::numeric_limits<float>::infinity()"),
        ("limits.h", "INT_MAX"),
        ("cfloat", "FLT_MAX + DBL_EPSILON"),
        ("algorithm", "std::min(N, 3) + std::max<float>(A[i], 0)"),
        ("type_traits", "std::is_same<float, float>::value"),
        ("type_traits", "std::is_same_v<std::decay_t<const float&>, float>"),
        ("type_traits", "std::is_same_v<std::decay_t<float[3]>, float*>"),
        ("type_traits", "std::is_same_v<std::decay_t<float(int)>, float (*)(int)>"),
        ("type_traits", "(std::make_unsigned_t<long>)N + std::is_signed_v<char>"),
        ("type_traits", "std::is_same_v<std::common_type_t<int, float, double>, double>"),
        ("type_traits", "sizeof(std::aligned_storage<16, 16>::type)"),
        ("type_traits", "std::is_trivially_copyable<float4>::value + std::is_enum_v<float4>"),
        ("type_traits", "std::disjunction_v<std::is_void<int>, std::negation<std::is_class<int>>>"),
        ("type_traits", "std::is_convertible_v<int, float> + std::is_base_of_v<float4, float4>"),
        ("utility", "std::make_pair(A[i], 2).first + std::exchange(N, 3)"),
        ("utility", "std::make_index_sequence<4>::size()"),
        ("array", "std::array<float, 2>{A[i], B[i]}[1] + std::array<int, 3>{}.size()"),
        ("vector", "(std::uint64_t)N"),
        ("vector", "std::is_same_v<std::size_t, std::pair<std::size_t, int>::first_type>"),
        ("cstddef", "(float)offsetof(float4, z)"),
        ("stdio.h", "INFINITY + (uint)N + M_PI"),
        ("cuda_fp16.h", "__half2float(__float2half(A[i]))"),
        ("cuda_bf16.h", "__bfloat162float(__float2bfloat16(A[i]))"),
        ("math_constants.h", "CUDART_INF_F"),
    ],
)
def test_device_code_can_use_what_headers_declare(header: str, expression: str) -> None:
    accepted(f"#include <{header}>\n{KERNEL.replace('A[i] + B[i]', expression)}")


def test_stand_ins_and_libcu_headers_agree() -> None:
    heavy = "#include <cooperative_groups.h>\n#include <mma.h>\n#include <cuda/barrier>\n"
    light = "".join(f"#include <{header}>\n" for header in sorted(host_headers()))
    accepted(f"{light}{heavy}{KERNEL}")
    accepted(f"{heavy}{light}{KERNEL}")


def test_a_nul_byte_cannot_end_the_text_early() -> None:
    assert errors(f"{KERNEL}\0") == [":: expected text, found a NUL byte"]
