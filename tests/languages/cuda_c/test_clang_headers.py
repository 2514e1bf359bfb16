"""Our headers for clang against numpy: each function family, run on the virtual GPU."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

from grader import vgpu
from tests.languages.cuda_c.sources import compiled

N = 96
RNG = np.random.default_rng(7)
ANY = np.concatenate(
    [
        RNG.uniform(-4, 4, N - 12),
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 100.0, 9.5, -9.5, 3.0, 7.25],
    ]
)
POSITIVE = np.abs(ANY) + 1e-3
UNIT = np.clip(ANY / 4.5, -0.999, 0.999)


def run(body: str, inputs: list[np.ndarray], out: np.ndarray, includes: str = "") -> np.ndarray:
    """The output of a kernel with `body`: its arguments are a, b, ..., out, its index is i."""
    names = "abcdefgh"[: len(inputs)]
    types = {"float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned"}
    listed = ", ".join(
        [f"{types[str(a.dtype)]}* {n}" for n, a in zip(names, inputs, strict=True)]
        + [f"{types[str(out.dtype)]}* out"]
    )
    text = f'{includes}\nextern "C" __global__ void k({listed}) {{ int i = threadIdx.x; {body} }}\n'
    return launched(text, inputs, out)


def launched(text: str, inputs: list[np.ndarray], out: np.ndarray) -> np.ndarray:
    memory = vgpu.Memory()
    pointers = [
        memory.allocate(a, name=f"p{n}", access="inout") for n, a in enumerate([*inputs, out])
    ]
    done = vgpu.launch(module(text).kernel("k"), 1, N, pointers, memory=memory)
    assert (done.ended, done.faults) == ("finished", ()), (done.ended, done.reason, done.faults)
    return np.asarray(memory.read(pointers[-1]))


@functools.cache
def module(text: str) -> vgpu.Module:
    builds, artefact = compiled(text, compiler="clang", any_kernel=True)
    assert artefact is not None, [d.message for d in builds[0].diagnostics]
    return vgpu.Module.from_ptx(artefact.variants[0].ptx)


def close(actual: np.ndarray, wanted: np.ndarray, ulps: float) -> None:
    """Within `ulps` units in the last place of the result's type, NaN beside NaN."""
    wanted = np.asarray(wanted, actual.dtype)
    with np.errstate(invalid="ignore"):
        allowed = ulps * np.abs(np.spacing(wanted))
        same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
        bad = ~(same | (np.abs(actual - wanted) <= allowed))
    assert not bad.any(), (actual[bad][:4], wanted[bad][:4])


UNARY: list[tuple[str, np.ndarray, Callable[[np.ndarray], np.ndarray], float, float]] = [
    # name, inputs, numpy's function, ulps of float (NVIDIA's bound or 2), ulps of double
    ("exp", ANY, np.exp, 2, 4), ("exp2", ANY, np.exp2, 2, 4), ("expm1", ANY, np.expm1, 2, 8),
    ("log", POSITIVE, np.log, 2, 4), ("log2", POSITIVE, np.log2, 2, 8),
    ("log10", POSITIVE, np.log10, 2, 8), ("log1p", POSITIVE, np.log1p, 2, 8),
    ("sin", ANY, np.sin, 2, 8), ("cos", ANY, np.cos, 2, 8), ("tan", ANY, np.tan, 4, 16),
    ("asin", UNIT, np.arcsin, 2, 16), ("acos", UNIT, np.arccos, 2, 16),
    ("atan", ANY, np.arctan, 2, 8), ("sinh", ANY, np.sinh, 3, 16), ("cosh", ANY, np.cosh, 2, 8),
    ("tanh", ANY, np.tanh, 2, 16), ("asinh", ANY, np.arcsinh, 4, 16),
    ("acosh", POSITIVE + 1, np.arccosh, 4, 32), ("atanh", UNIT, np.arctanh, 3, 16),
    ("cbrt", ANY, np.cbrt, 1, 4), ("sqrt", POSITIVE, np.sqrt, 0, 0),
    ("rsqrt", POSITIVE, lambda x: 1 / np.sqrt(x), 2, 2), ("fabs", ANY, np.abs, 0, 0),
    ("floor", ANY, np.floor, 0, 0), ("ceil", ANY, np.ceil, 0, 0), ("trunc", ANY, np.trunc, 0, 0),
    ("rint", ANY, np.rint, 0, 0),
    ("round", ANY, lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), 0, 0),
    ("erf", ANY, np.vectorize(math.erf), 2, 64), ("erfc", ANY, np.vectorize(math.erfc), 2, 512),
    ("tgamma", POSITIVE[:80], np.vectorize(math.gamma), 2, 4096),
    ("lgamma", POSITIVE + 2.5, np.vectorize(math.lgamma), 2, 4096),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "numpy", "float_ulps", "double_ulps"), UNARY)
def test_functions_of_one_argument(
    name: str, x: np.ndarray, numpy: Callable[..., np.ndarray], float_ulps: float, *,
    double_ulps: float,
) -> None:  # fmt: skip
    x = np.resize(x, N)
    single = x.astype(np.float32)
    out = run(f"out[i] = {name}f(a[i]);", [single], np.zeros(N, np.float32))
    close(out, numpy(single.astype(np.float64)), float_ulps)
    assert np.array_equal(
        run(f"out[i] = {name}(a[i]);", [single], np.zeros(N, np.float32)), out, equal_nan=True
    )
    close(run(f"out[i] = {name}(a[i]);", [x], np.zeros(N)), numpy(x), double_ulps)


@pytest.mark.parametrize(
    ("expression", "numpy"),
    [
        ("powf(a[i], b[i])", np.power),
        ("pow(a[i], b[i])", np.power),
        ("atan2f(a[i], b[i])", np.arctan2),
        ("fmodf(a[i], b[i])", np.fmod),
        ("hypotf(a[i], b[i])", np.hypot),
        ("fminf(a[i], b[i])", np.fmin),
        ("fmaxf(a[i], b[i])", np.fmax),
        ("max(a[i], b[i])", np.fmax),
        ("copysignf(a[i], b[i])", np.copysign),
        ("fdimf(a[i], b[i])", lambda a, b: np.maximum(a - b, 0)),
        ("fmaf(a[i], b[i], 1.0f)", lambda a, b: a * b + 1),
        ("__fdividef(a[i], b[i])", lambda a, b: a / b),
        ("a[i] / b[i]", lambda a, b: a / b),
        ("nextafterf(a[i], b[i])", lambda a, b: np.nextafter(np.float32(a), np.float32(b))),
        ("remainderf(a[i], b[i])", np.vectorize(math.remainder)),
    ],
)
def test_functions_of_two_arguments(expression: str, numpy: Callable[..., np.ndarray]) -> None:
    a = POSITIVE.astype(np.float32)
    b = np.roll(POSITIVE, 5).astype(np.float32)
    out = run(f"out[i] = {expression};", [a, b], np.zeros(N, np.float32))
    close(out, numpy(a.astype(np.float64), b.astype(np.float64)), 4)


def test_pow_of_double_and_its_special_cases() -> None:
    x = np.resize([2.0, -2.0, 0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 0.5, 10.0, -1.5], N)
    y = np.resize([3.0, -3.0, 0.5, 2.0, -1.0, np.inf, 0.0, -np.inf, 7.0, 2.5, 1e3, -7.0, 4.0], N)
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    close(run("out[i] = pow(a[i], b[i]);", [x, y], np.zeros(N)), wanted, 64)


WORDS = RNG.integers(0, 2**32, N, dtype=np.uint32)
WORDS[:6] = [0, 1, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFF, 0x00FF00FF]


@pytest.mark.parametrize(
    ("expression", "python"),
    [
        ("__popc(a[i])", lambda x: bin(x).count("1")),
        ("__clz((int)a[i])", lambda x: 32 - x.bit_length()),
        ("__ffs((int)a[i])", lambda x: (x & -x).bit_length()),
        ("__brev(a[i])", lambda x: int(f"{x:032b}"[::-1], 2)),
        ("__umulhi(a[i], 0x9e3779b9u)", lambda x: x * 0x9E3779B9 >> 32),
        ("__byte_perm(a[i], 0x01234567u, 0x5140u)",
         lambda x: x & 0xFF | 0x67 << 8 | (x >> 8 & 0xFF) << 16 | 0x45 << 24),
        ("__funnelshift_l(a[i], 0x12345678u, 8)", lambda x: 0x34567800 | x >> 24),
        ("__float_as_uint(__uint_as_float(a[i] & 0x7f7fffffu))", lambda x: x & 0x7F7FFFFF),
        ("min(a[i], 77u)", lambda x: min(x, 77)),
        ("max((int)a[i], 5)", lambda x: max(x - (x >> 31 << 32), 5)),
        ("__usad(a[i], 1000u, 2u)", lambda x: (abs(x - 1000) + 2) & 0xFFFFFFFF),
        ("__mul24((int)(a[i] & 0xfff), 3)", lambda x: (x & 0xFFF) * 3),
    ],
)  # fmt: skip
def test_integer_intrinsics(expression: str, python: Callable[[int], int]) -> None:
    out = run(f"out[i] = (unsigned)({expression});", [WORDS], np.zeros(N, np.uint32))
    assert out.tolist() == [python(int(x)) & 0xFFFFFFFF for x in WORDS]


@pytest.mark.parametrize(
    ("expression", "numpy"),
    [
        ("__float2int_rn(a[i])", np.rint), ("__float2int_rz(a[i])", np.trunc),
        ("__float2int_ru(a[i])", np.ceil), ("__float2int_rd(a[i])", np.floor),
    ],
)  # fmt: skip
def test_conversions_round_as_they_say(
    expression: str, numpy: Callable[[np.ndarray], np.ndarray]
) -> None:
    a = (ANY * 10).astype(np.float32)
    out = run(f"out[i] = {expression};", [a], np.zeros(N, np.int32))
    assert np.array_equal(out, numpy(a).astype(np.int32))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("out[i] = __shfl_sync(0xffffffff, a[i], 3);", lambda w: [w[3]] * 32),
        ("out[i] = __shfl_down_sync(0xffffffff, a[i], 4);", lambda w: w[4:] + w[28:]),
        ("out[i] = __shfl_up_sync(0xffffffff, a[i], 2);", lambda w: w[:2] + w[:30]),
        ("out[i] = __shfl_xor_sync(0xffffffff, a[i], 1);", lambda w: [w[k ^ 1] for k in range(32)]),
        ("out[i] = __shfl_down_sync(0xffffffff, a[i], 1, 8);",
         lambda w: [w[k + 1] if k % 8 < 7 else w[k] for k in range(32)]),
        ("out[i] = (unsigned)__shfl_xor_sync(0xffffffff, (double)(a[i] & 255), 1);",
         lambda w: [w[k ^ 1] & 255 for k in range(32)]),
        ("out[i] = __float_as_uint(__shfl_xor_sync(~0u, __uint_as_float(a[i] & 0x7fffff), 2));",
         lambda w: [w[k ^ 2] & 0x7FFFFF for k in range(32)]),
        ("out[i] = __ballot_sync(0xffffffff, a[i] & 1);",
         lambda w: [sum((x & 1) << k for k, x in enumerate(w))] * 32),
        ("out[i] = __any_sync(0xffffffff, a[i] == 0) + 2 * __all_sync(0xffffffff, 1);",
         lambda w: [int(0 in w) + 2] * 32),
        ("out[i] = __match_any_sync(0xffffffff, a[i] & 3);",
         lambda w: [sum(1 << k for k, y in enumerate(w) if y & 3 == x & 3) for x in w]),
        ("out[i] = __reduce_add_sync(0xffffffff, a[i] & 255);",
         lambda w: [sum(x & 255 for x in w)] * 32),
        ("out[i] = __reduce_max_sync(0xffffffff, a[i]);", lambda w: [max(w)] * 32),
        ("out[i] = __activemask();", lambda w: [0xFFFFFFFF] * 32),
        ("out[i] = __syncthreads_count(threadIdx.x < 40);", lambda w: [40] * 32),
        ("out[i] = __syncthreads_or(threadIdx.x == 95);", lambda w: [1] * 32),
        ("out[i] = __syncthreads_and(threadIdx.x < 95);", lambda w: [0] * 32),
    ],
)  # fmt: skip
def test_warp_and_block_functions(body: str, wanted: Callable[[list[int]], list[int]]) -> None:
    out = run(body, [WORDS], np.zeros(N, np.uint32))
    warps = [[int(x) for x in WORDS[k : k + 32]] for k in range(0, N, 32)]
    assert out.tolist() == [value for warp in warps for value in wanted(warp)]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("atomicAdd(&out[0], 2u);", 2 * N + 7), ("atomicSub(&out[0], 1u);", (7 - N) % 2**32),
        ("atomicMax(&out[0], (unsigned)i);", N - 1), ("atomicMin(&out[0], (unsigned)i);", 0),
        ("atomicInc(&out[0], 9u);", (7 + N) % 10), ("atomicDec(&out[0], 9u);", (7 - N) % 10),
        ("atomicOr(&out[0], 1u << (i % 32));", 0xFFFFFFFF), ("atomicAnd(&out[0], 3u);", 3),
        ("atomicXor(&out[0], (unsigned)i);", 7), ("atomicExch(&out[0], 11u);", 11),
        ("atomicAdd_block(&out[0], 1u);", N + 7), ("atomicAdd_system(&out[0], 1u);", N + 7),
        ("unsigned seen = 7, was; while ((was = atomicCAS(&out[0], seen, seen + 1)) != seen)"
         " seen = was;", N + 7),
    ],
)  # fmt: skip
def test_atomics(body: str, wanted: int) -> None:
    out = np.zeros(N, np.uint32)
    out[0] = 7
    assert int(run(body, [WORDS], out)[0]) == wanted


def test_float_atomics() -> None:
    out = run("atomicAdd(&out[0], 0.5f);", [WORDS], np.zeros(N, np.float32))
    assert out[0] == N / 2
    out64 = run("atomicAdd(&out[0], 0.25);", [WORDS], np.zeros(N))
    assert out64[0] == N / 4


def test_vector_types_are_laid_out_as_cuda_s() -> None:
    sizes = {"char3": 3, "uchar4": 4, "short2": 4, "int3": 12, "float2": 8, "float3": 12,
             "float4": 16, "double2": 16, "double4": 32, "longlong2": 16, "dim3": 12}  # fmt: skip
    aligned = {"char4": 4, "short4": 8, "float2": 8, "float3": 4, "float4": 16, "double4": 16}
    checks = [f'static_assert(sizeof({t}) == {s}, "{t}");' for t, s in sizes.items()]
    checks += [f'static_assert(alignof({t}) == {s}, "{t}");' for t, s in aligned.items()]
    out = run(
        "float4 v = make_float4(1, 2, 3, 4); v.w += a[i];"
        "if (i % 4 == 0) ((float4*)out)[i / 4] = v;"
        "dim3 d = blockDim; uint3 t = threadIdx; if (d.x != blockDim.x || t.x != i) out[0] = -1;",
        [np.zeros(N, np.float32)],
        np.zeros(N, np.float32),
        "\n".join(checks),
    )
    assert out.tolist() == [1, 2, 3, 4] * (N // 4)


def test_half_precision_rounds_each_operation() -> None:
    a, b = (x.astype(np.float32) for x in (ANY, np.roll(ANY, 3)))
    body = (
        "half x = __float2half(a[i]), y = __float2half(b[i]);"
        "out[i] = __half2float(x * y + x - __hmul(y, y));"
    )
    x, y = a.astype(np.float16), b.astype(np.float16)
    out = run(body, [a, b], np.zeros(N, np.float32), "#include <cuda_fp16.h>")
    # The product and the sum may be one fused operation, as under NVRTC.
    exact = x.astype(np.float64) * y + x
    fused = (exact.astype(np.float16) - y * y).astype(np.float32)
    plain = (x * y + x - y * y).astype(np.float32)
    scale = np.maximum(np.abs(plain), np.abs(fused)) + np.abs(y.astype(np.float32) ** 2)
    assert (np.minimum(np.abs(out - fused), np.abs(out - plain)) <= scale * 2**-9).all()
    pair = run(
        "half2 v = __floats2half2_rn(a[i], b[i]); float2 f = __half22float2(__hadd2(v, v));"
        "out[i] = f.x + f.y;",
        [a, b], np.zeros(N, np.float32), "#include <cuda_fp16.h>",
    )  # fmt: skip
    wanted = (x + x).astype(np.float32) + (y + y).astype(np.float32)
    assert np.array_equal(pair, wanted)


def test_bfloat16_keeps_eight_bits() -> None:
    a = ANY.astype(np.float32)
    out = run(
        "__nv_bfloat16 x = __float2bfloat16(a[i]); out[i] = __bfloat162float(x);",
        [a], np.zeros(N, np.float32), "#include <cuda_bf16.h>",
    )  # fmt: skip
    bits = a.view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    assert np.array_equal(out, rounded.view(np.float32))


GROUPS = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("auto t = cg::tiled_partition<32>(cg::this_thread_block());"
         "out[i] = cg::reduce(t, a[i] & 255, cg::plus<unsigned>());",
         lambda w: [sum(x & 255 for x in w)] * 32),
        ("auto t = cg::tiled_partition<8>(cg::this_thread_block());"
         "out[i] = cg::reduce(t, a[i], cg::greater<unsigned>());",
         lambda w: [max(w[k // 8 * 8 : k // 8 * 8 + 8]) for k in range(32)]),
        ("auto t = cg::tiled_partition<4>(cg::this_thread_block());"
         "out[i] = t.shfl_down(a[i], 1) + t.thread_rank() + 10 * t.size();",
         lambda w: [(w[k + 1] if k % 4 < 3 else w[k]) + k % 4 + 40 for k in range(32)]),
        ("auto t = cg::tiled_partition<16>(cg::this_thread_block());"
         "out[i] = t.ballot(a[i] & 1) + 65536 * t.any(a[i] == 0);",
         lambda w: [sum((w[k // 16 * 16 + j] & 1) << j for j in range(16))
                    + 65536 * (0 in w[k // 16 * 16 : k // 16 * 16 + 16]) for k in range(32)]),
        ("out[i] = 0; if (a[i] & 1) { auto g = cg::coalesced_threads();"
         "out[i] = g.thread_rank() + 100 * g.size() + 10000 * (g.shfl(a[i], 0) & 255); }",
         lambda w: [sum(x & 1 for x in w[:k]) + 100 * sum(x & 1 for x in w)
                    + 10000 * (next(x for x in w if x & 1) & 255) if w[k] & 1 else 0
                    for k in range(32)]),
    ],
)  # fmt: skip
def test_cooperative_groups(body: str, wanted: Callable[[list[int]], list[int]]) -> None:
    out = run(body, [WORDS], np.zeros(N, np.uint32), GROUPS)
    warps = [[int(x) for x in WORDS[k : k + 32]] for k in range(0, N, 32)]
    assert out.tolist() == [value & 0xFFFFFFFF for warp in warps for value in wanted(warp)]


def test_blocks_and_grids_have_cuda_s_numbers() -> None:
    body = (
        "auto b = cg::this_thread_block(); auto g = cg::this_grid(); b.sync();"
        "out[i] = b.thread_rank() + 1000 * b.size() + 1000000 * (unsigned)g.num_blocks();"
    )
    out = run(body, [WORDS], np.zeros(N, np.uint32), GROUPS)
    assert out.tolist() == [i + 1000 * N + 1000000 for i in range(N)]


def test_printf_and_assert() -> None:
    text = 'extern "C" __global__ void k(unsigned* out) {{ if (threadIdx.x == 3) {0} }}\n'
    memory = vgpu.Memory()
    out = memory.allocate(np.zeros(N, np.uint32), name="out", access="out")
    said = 'printf("%d %.2f %s\\n", (int)threadIdx.x, 1.5f, "end");'
    done = vgpu.launch(module(text.format(said)).kernel("k"), 1, N, [out], memory=memory)
    assert (done.ended, done.printed) == ("finished", "3 1.50 end\n")
    done = vgpu.launch(
        module(text.format("assert(threadIdx.x == 4);")).kernel("k"), 1, N, [out], memory=memory
    )
    assert done.ended == "assertion"
    assert "threadIdx.x == 4" in done.reason


@pytest.mark.parametrize("includes", ["", "#include <utility>\n#include <limits>\n"])
@pytest.mark.parametrize("compiler", ["nvrtc", "clang"])
def test_traits_come_where_they_are_named_or_included(compiler: str, includes: str) -> None:
    text = """extern "C" __global__ void k(float* out) {
  std::remove_reference<float&>::type x = std::numeric_limits<float>::max();
  std::pair<int, float> both(1, 2.0f);
  out[0] = std::move(x) + std::forward<float>(both.second) + std::is_same<int, int>::value;
  std::swap(out[0], out[1]);
}
"""
    builds, artefact = compiled(includes + text, compiler=compiler, any_kernel=True)
    assert artefact is not None, [d.message for d in builds[0].diagnostics]


@pytest.mark.parametrize("compiler", ["nvrtc", "clang"])
def test_a_call_that_nvrtc_resolves_clang_resolves_too(compiler: str) -> None:
    """Overloads as C++ programs write them: mixed types, integers, std:: names."""
    text = """#include <cmath>
#include <algorithm>
extern "C" __global__ void k(float* out, int n, unsigned u, double d, size_t s) {
  float x = out[threadIdx.x];
  out[0] = pow(x, 2) + pow(2.0, n) + pow(x, 2.0f) + pow(d, 2) + sqrt((float)n) + abs(x) + abs(n);
  out[1] = max(n, 3) + max(u, 3u) + max(x, 1.0f) + max(d, 1.0) + min(x, d) + max(n, u);
  out[2] = std::sqrt(x) + std::abs(x) + std::max(x, 1.0f) + std::min(n, 3) + std::floor(x);
  out[3] = isnan(x) + isinf(d) + fmax(x, 0.0f) + fmaxf(x, 0) + exp(x) + log(d) + floor(x / 2);
  out[4] = min(s, (size_t)3) + round(x) + lroundf(x) + ldexpf(x, 2) + rsqrtf(x) + __ldg(&out[5]);
}
"""
    builds, artefact = compiled(text, compiler=compiler, any_kernel=True)
    assert artefact is not None, [d.message for d in builds[0].diagnostics]


@pytest.mark.parametrize("name", ["vg_sinf_v32", "rt_printf", "system", "memcpy"])
def test_no_function_outside_the_file_can_be_called(name: str) -> None:
    """Nothing assembles clang's PTX, so the engine itself refuses what nobody defines."""
    text = f"""extern "C" __device__ float {name}(float, float);
extern "C" __global__ void k(float* out) {{ out[threadIdx.x] = {name}(1.0f, 2.0f); }}
"""
    memory = vgpu.Memory()
    out = memory.allocate(np.zeros(N, np.float32), name="out", access="out")
    done = vgpu.launch(module(text).kernel("k"), 1, N, [out], memory=memory)
    assert done.ended == "unsupported"
    assert name in done.reason
