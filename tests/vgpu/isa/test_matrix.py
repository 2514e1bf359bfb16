"""mma, wmma, ldmatrix and stmatrix through the engine, against matrix products in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from grader.vgpu import Memory, launch
from tests.vgpu.isa.harness import HEADER, Op, compiled, run

LANES = np.arange(32)
GROUP, PLACE = LANES // 4, LANES % 4


def registers(name: str, count: int) -> str:
    return ", ".join(f"%{name}{k}" for k in range(count))


def run_mma(text: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Run an mma over register arrays [register][lane] of 32-bit words; returns D alike."""
    counts = {"a": len(a), "b": len(b), "c": len(c)}
    loads = []
    for n, (name, count) in enumerate(counts.items()):
        loads.append(f"ld.param.u64 %p, [q{n}]; add.u64 %p, %p, %at;")
        loads += [f"ld.global.b32 %{name}{k}, [%p+{128 * k}];" for k in range(count)]
    stores = [f"st.global.b32 [%p+{128 * k}], %d{k};" for k in range(len(c))]
    lists = {name: f"{{{registers(name, count)}}}" for name, count in counts.items()}
    lists["d"] = f"{{{registers('d', len(c))}}}"
    body = "\n".join(
        [
            ".visible .entry k(.param .u64 q0, .param .u64 q1, .param .u64 q2, .param .u64 q3)",
            "{ .reg .b64 %p, %at; .reg .b32 %t;",
            *(f".reg .b32 %{name}<{count}>;" for name, count in (counts | {"d": len(c)}).items()),
            "mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4;",
            *loads,
            f"{text} {lists['d']}, {lists['a']}, {lists['b']}, {lists['c']};",
            "ld.param.u64 %p, [q3]; add.u64 %p, %p, %at;",
            *stores,
            "ret; }",
        ]
    )
    memory = Memory()
    arrays = [np.ascontiguousarray(x).view(np.uint32).ravel() for x in (a, b, c)]
    pointers = [memory.allocate(x, name=n, access="in") for x, n in zip(arrays, "abc", strict=True)]
    out = memory.allocate(np.zeros(c.size, np.uint32), name="d", access="out")
    done = launch(compiled(HEADER + body), 1, 32, [*pointers, out], memory=memory)
    assert done.ended == "finished", done.reason
    assert not done.faults
    return memory.read(out).reshape(len(c), 32)


def halves(x: np.ndarray, row, column) -> np.ndarray:
    """Two neighbours (row, column) and (row, column + 1) of a float16 matrix in one word."""
    low, high = (x[row, column + k].view(np.uint16).astype(np.uint32) for k in (0, 1))
    return low | high << np.uint32(16)


@pytest.mark.parametrize("wide", [True, False])
def test_m16n8k16_of_halves(wide):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, s).astype(np.float16) for s in ((16, 16), (16, 8)))
    c = rng.integers(-50, 50, (16, 8))
    quads = [
        (GROUP, 2 * PLACE),
        (GROUP + 8, 2 * PLACE),
        (GROUP, 2 * PLACE + 8),
        (GROUP + 8, 2 * PLACE + 8),
    ]
    ra = np.stack([halves(a, *q) for q in quads])
    rb = np.stack([halves(b.T.copy(), GROUP, 2 * PLACE + k) for k in (0, 8)])
    expected = a.astype(float) @ b.astype(float) + c
    if wide:
        cells = [(GROUP + 8 * (k // 2), 2 * PLACE + k % 2) for k in range(4)]
        rc = np.stack([c[cell].astype(np.float32) for cell in cells])
        d = run_mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ra, rb, rc)
        actual = d.view(np.float32)
        np.testing.assert_array_equal(actual, np.stack([expected[cell] for cell in cells]))
    else:
        half_c = c.astype(np.float16)
        rc = np.stack([halves(half_c, GROUP + 8 * k, 2 * PLACE) for k in (0, 1)])
        d = run_mma("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", ra, rb, rc)
        want = expected.astype(np.float16)
        np.testing.assert_array_equal(
            d, np.stack([halves(want, GROUP + 8 * k, 2 * PLACE) for k in (0, 1)])
        )


def test_m16n8k8_of_tf32():
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-8, 9, s).astype(np.float32) / 8 for s in ((16, 8), (8, 8)))
    ra = np.stack([a[GROUP + 8 * (k % 2), PLACE + 4 * (k // 2)] for k in range(4)])
    rb = np.stack([b[PLACE + 4 * k, GROUP] for k in (0, 1)])
    d = run_mma(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ra, rb, np.zeros((4, 32), np.float32)
    )
    expected = (a @ b)[GROUP + 8, 2 * PLACE + 1]
    np.testing.assert_array_equal(d[3].view(np.float32), expected)


def test_m16n8k32_of_bytes():
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (16, 32)), rng.integers(-128, 128, (32, 8))

    def word(x, row, column):
        return sum(
            (x[row, column + k] & 255).astype(np.uint32) << np.uint32(8 * k) for k in range(4)
        )

    ra = np.stack([word(a, GROUP + 8 * (k % 2), 4 * PLACE + 16 * (k // 2)) for k in range(4)])
    rb = np.stack([word(b.T, GROUP, 4 * PLACE + 16 * k) for k in (0, 1)])
    c = np.full((4, 32), 2**31 - 1, np.int32)
    text = "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32"
    d = run_mma(text, ra, rb, c).view(np.int32)
    exact = (a @ b)[GROUP + 8, 2 * PLACE] + 2**31 - 1
    np.testing.assert_array_equal(d[2], np.clip(exact, -(2**31), 2**31 - 1))


@pytest.mark.parametrize("transposed", [False, True])
def test_ldmatrix_and_stmatrix(transposed):
    """Four 8x8 matrices of halves go to registers and come back to another tile."""
    trans = ".trans" * transposed
    text = (
        HEADER
        + f"""
.visible .entry k(.param .u64 q0, .param .u64 q1, .param .u64 q2)
{{ .reg .b64 %p, %at; .reg .b32 %t, %row, %s, %v, %r<4>;
.shared .align 16 .b8 tile[512];
.shared .align 16 .b8 back[512];
mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 16; mul.lo.u32 %row, %t, 16;
ld.param.u64 %p, [q0]; add.u64 %p, %p, %at; mov.u32 %s, tile; add.u32 %s, %s, %row;
ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%p]; st.shared.v4.b32 [%s], {{%r0, %r1, %r2, %r3}};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r0, %r1, %r2, %r3}}, [%s];
ld.param.u64 %p, [q1]; mul.wide.u32 %at, %t, 4; add.u64 %p, %p, %at;
st.global.b32 [%p], %r0; st.global.b32 [%p+128], %r1;
st.global.b32 [%p+256], %r2; st.global.b32 [%p+384], %r3;
mov.u32 %s, back; add.u32 %s, %s, %row;
stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%s], {{%r0, %r1, %r2, %r3}};
bar.sync 0;
ld.shared.v4.b32 {{%r0, %r1, %r2, %r3}}, [%s];
ld.param.u64 %p, [q2]; mul.wide.u32 %at, %t, 16; add.u64 %p, %p, %at;
st.global.v4.b32 [%p], {{%r0, %r1, %r2, %r3}};
ret; }}
"""
    )
    rows = np.random.default_rng(4).integers(0, 65536, (4, 8, 8)).astype(np.uint16)
    memory = Memory()
    a = memory.allocate(rows.ravel(), name="a", access="in")
    fragments = memory.allocate(np.zeros(128, np.uint32), name="fragments", access="out")
    back = memory.allocate(np.zeros(256, np.uint16), name="back", access="out")
    done = launch(compiled(text), 1, 32, [a, fragments, back], memory=memory)
    assert done.ended == "finished" and not done.faults, (done.reason, done.faults)
    got = memory.read(fragments).reshape(4, 32)
    for j in range(4):
        matrix = rows[j].T if transposed else rows[j]
        low, high = (matrix[GROUP, 2 * PLACE + k].astype(np.uint32) for k in (0, 1))
        np.testing.assert_array_equal(got[j], low | high << np.uint32(16))
    np.testing.assert_array_equal(memory.read(back).reshape(4, 8, 8), rows)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("through", ["ldmatrix", "stmatrix"])
@pytest.mark.parametrize(("stored", "silent"), [((0, 1), True), ((0, 2), False)])
def test_undefined_rows_are_carried_and_matter_where_they_are_used(
    transposed, through, stored, silent
):
    """Matrices 0 and 1 are filled, 2 and 3 are not: moving them is fine, storing them is not."""
    trans = ".trans" * transposed
    again = f"""
mov.u32 %s, back; add.u32 %s, %s, %row;
stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%s], {{%r0, %r1, %r2, %r3}};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r0, %r1, %r2, %r3}}, [%s];"""
    text = (
        HEADER
        + f"""
.visible .entry k(.param .u64 q0)
{{ .reg .b64 %p, %at; .reg .b32 %t, %row, %s, %r<4>; .reg .pred %half;
.shared .align 16 .b8 tile[512];
.shared .align 16 .b8 back[512];
mov.u32 %t, %tid.x; mul.lo.u32 %row, %t, 16; mov.u32 %s, tile; add.u32 %s, %s, %row;
setp.lt.u32 %half, %t, 16;
@%half st.shared.v4.b32 [%s], {{%t, %t, %t, %t}};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r0, %r1, %r2, %r3}}, [%s];
{again if through == "stmatrix" else ""}
ld.param.u64 %p, [q0]; mul.wide.u32 %at, %t, 8; add.u64 %p, %p, %at;
st.global.b32 [%p], %r{stored[0]}; st.global.b32 [%p+4], %r{stored[1]};
ret; }}
"""
    )
    memory = Memory()
    out = memory.allocate(np.zeros(64, np.uint32), name="out", access="out")
    done = launch(compiled(text), 1, 32, [out], memory=memory)
    assert done.ended == "finished", done.reason
    errors = {fault.kind for fault in done.faults if fault.severity == "error"}
    assert errors == (set() if silent else {"uninitialised"})


def test_movmatrix_transposes():
    matrix = np.random.default_rng(6).integers(0, 65536, (8, 8)).astype(np.uint16)

    def fragment(x):
        low, high = (x[GROUP, 2 * PLACE + k].astype(np.uint32) for k in (0, 1))
        return low | high << np.uint32(16)

    op = Op("movmatrix.sync.aligned.m8n8.trans.b16 {d}, {a};", "b32", ("b32",), lambda a: None)
    out = run(op, [[int(word) for word in fragment(matrix)]])
    np.testing.assert_array_equal(out, fragment(matrix.T))


WMMA = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* a, const half* b, float* c, int lda, int ldb, int ldc) {
    wmma::fragment<wmma::matrix_a, %(m)d, %(n)d, 16, half, wmma::%(a)s> x;
    wmma::fragment<wmma::matrix_b, %(m)d, %(n)d, 16, half, wmma::%(b)s> y;
    wmma::fragment<wmma::accumulator, %(m)d, %(n)d, 16, float> z;
    wmma::load_matrix_sync(z, c, ldc, wmma::mem_row_major);
    wmma::load_matrix_sync(x, a, lda);
    wmma::load_matrix_sync(y, b, ldb);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++) z.x[i] *= 2;
    wmma::store_matrix_sync(c, z, ldc, wmma::mem_row_major);
}
"""


@pytest.mark.parametrize("shape", [(16, 16), (32, 8), (8, 32)])
@pytest.mark.parametrize(
    ("a_layout", "b_layout"), [("row_major", "col_major"), ("col_major", "row_major")]
)
def test_wmma_of_cuda(shape, a_layout, b_layout):
    """What mma.h compiles to: loads with strides, the product, element-wise use, the store."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC has no wheel for this platform")
    from grader.languages.nvrtc import compile_source, install_headers
    from grader.vgpu import Module

    m, n = shape
    folder = install_headers()
    assert folder is not None
    source = WMMA % {"m": m, "n": n, "a": a_layout, "b": b_layout}
    options = [
        "-arch=compute_80",
        "-std=c++17",
        f"-I{folder}",
        f"-I{folder}/cccl",
        f"-I{folder}/include",
    ]
    built = compile_source(source, "wmma.cu", options)
    assert built.ok, built.log
    kernel = Module.from_ptx(built.ptx).kernel("k")
    rng = np.random.default_rng(5)
    a, b = (
        rng.integers(-4, 5, (m, 16)).astype(np.float16),
        rng.integers(-4, 5, (16, n)).astype(np.float16),
    )
    c = rng.integers(-9, 9, (m, n)).astype(np.float32)
    stored_a = a if a_layout == "row_major" else a.T
    stored_b = b if b_layout == "row_major" else b.T
    memory = Memory()
    pointers = [
        memory.allocate(np.ascontiguousarray(stored_a).ravel(), name="a", access="in"),
        memory.allocate(np.ascontiguousarray(stored_b).ravel(), name="b", access="in"),
        memory.allocate(c.ravel(), name="c", access="inout"),
    ]
    strides = [np.int32(stored_a.shape[1]), np.int32(stored_b.shape[1]), np.int32(n)]
    done = launch(kernel, 1, 32, [*pointers, *strides], memory=memory, checks="all")
    assert done.ended == "finished" and not done.faults, (done.reason, done.faults)
    expected = 2 * (a.astype(float) @ b.astype(float) + c)
    np.testing.assert_array_equal(memory.read(pointers[2]).reshape(m, n), expected)
