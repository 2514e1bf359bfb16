"""Matrix instructions against matrix products over fragments laid out by the PTX ISA's formulas."""

from __future__ import annotations

import numpy as np
import pytest

from grader.vgpu import tensor
from grader.vgpu.program import Unsupported
from grader.vgpu.ptx import Instruction
from tests.vgpu.isa.exact import encode, fma

F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1_XOR, B1_AND, S32, E4M3, E5M2 = range(14)
LANES = np.arange(32)
GROUP, PLACE = LANES // 4, LANES % 4


def words_of_f16(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float16).view(np.uint16)


def words_of_bf16(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def pack(elements: np.ndarray, bits: int) -> np.ndarray:
    """(registers, 32, elements) unsigned codes to (registers, 32) 32-bit registers."""
    word = np.zeros(elements.shape[:2], np.uint64)
    for i in range(elements.shape[2]):
        word |= elements[..., i].astype(np.uint64) << np.uint64(bits * i)
    return word.astype(np.uint32)


def mma(device, shape, types, *registers, satfinite=0):
    """Call `vg_mma` with registers d, a, b, c; returns d."""
    call = device.function("vg_mma", None, *("int",) * 8, *("pointer",) * 4)
    call(*shape, *types, satfinite, *(np.ascontiguousarray(x).ctypes.data for x in registers))
    return registers[0]


def run(device, call, *arrays):
    call(*(array.ctypes.data for array in arrays))


@pytest.mark.parametrize(("kind", "words"), [(F16, words_of_f16), (BF16, words_of_bf16)])
def test_m16n8k16_f32(device, kind, words):
    """The ISA's table for .f16/.bf16 written out: a0,a1 (g, 2p+i) … a6,a7 (g+8, 2p+8+i)."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, s).astype(np.float64) / 4 for s in ((16, 16), (16, 8)))
    c = rng.normal(size=(16, 8)).astype(np.float32)
    ra = np.stack(
        [
            pack(np.stack([words(a)[row, col + i] for i in (0, 1)], -1)[None], 16)[0]
            for row, col in (
                (GROUP, 2 * PLACE),
                (GROUP + 8, 2 * PLACE),
                (GROUP, 2 * PLACE + 8),
                (GROUP + 8, 2 * PLACE + 8),
            )
        ]
    )
    rb = np.stack(
        [
            pack(np.stack([words(b)[2 * PLACE + i + k, GROUP] for i in (0, 1)], -1)[None], 16)[0]
            for k in (0, 8)
        ]
    )
    places = [
        (GROUP, 2 * PLACE),
        (GROUP, 2 * PLACE + 1),
        (GROUP + 8, 2 * PLACE),
        (GROUP + 8, 2 * PLACE + 1),
    ]
    rc = np.stack([c[p] for p in places])
    d = mma(device, (16, 8, 16), (kind, kind, F32, F32), np.zeros((4, 32), np.float32), ra, rb, rc)
    expected = (a @ b + c.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(d, np.stack([expected[p] for p in places]))


def test_m16n8k8_tf32_ignores_low_bits(device):
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=s).astype(np.float32) for s in ((16, 8), (8, 8)))
    cut = [
        (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
        for x in (a, b)
    ]
    ra = np.stack(
        [a[GROUP, PLACE], a[GROUP + 8, PLACE], a[GROUP, PLACE + 4], a[GROUP + 8, PLACE + 4]]
    )
    rb = np.stack([b[PLACE, GROUP], b[PLACE + 4, GROUP]])
    d = mma(
        device,
        (16, 8, 8),
        (TF32, TF32, F32, F32),
        np.zeros((4, 32), np.float32),
        ra,
        rb,
        np.zeros((4, 32), np.float32),
    )
    np.testing.assert_allclose(d[0], (cut[0] @ cut[1])[GROUP, 2 * PLACE], rtol=1e-6)
    np.testing.assert_allclose(d[3], (cut[0] @ cut[1])[GROUP + 8, 2 * PLACE + 1], rtol=1e-6)


@pytest.mark.parametrize("satfinite", [0, 1])
@pytest.mark.parametrize(("a_type", "b_type"), [(S8, S8), (U8, U8), (S8, U8), (U8, S8)])
def test_m16n8k32_integers_wrap_or_clamp(device, a_type, b_type, satfinite):
    rng = np.random.default_rng(3)
    low = {S8: -128, U8: 0}
    a = rng.integers(low[a_type], low[a_type] + 256, (16, 32))
    b = rng.integers(low[b_type], low[b_type] + 256, (32, 8))
    c = rng.choice([2**31 - 1, -(2**31), 0, 17], (16, 8))
    ra = pack(
        np.stack(
            [
                np.stack([(a & 255)[r, 4 * PLACE + i + k] for i in range(4)], -1)
                for r, k in ((GROUP, 0), (GROUP + 8, 0), (GROUP, 16), (GROUP + 8, 16))
            ]
        ),
        8,
    )
    rb = pack(
        np.stack(
            [np.stack([(b & 255)[4 * PLACE + i + k, GROUP] for i in range(4)], -1) for k in (0, 16)]
        ),
        8,
    )
    places = [
        (GROUP, 2 * PLACE),
        (GROUP, 2 * PLACE + 1),
        (GROUP + 8, 2 * PLACE),
        (GROUP + 8, 2 * PLACE + 1),
    ]
    rc = np.stack([c[p] for p in places]).astype(np.int32)
    d = mma(
        device,
        (16, 8, 32),
        (a_type, b_type, S32, S32),
        np.zeros((4, 32), np.int32),
        ra,
        rb,
        rc,
        satfinite=satfinite,
    )
    exact = a @ b + c
    wrapped = (exact & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    expected = np.clip(exact, -(2**31), 2**31 - 1) if satfinite else wrapped
    np.testing.assert_array_equal(d, np.stack([expected[p] for p in places]))


@pytest.mark.parametrize(
    ("a_type", "operation"), [(B1_XOR, np.bitwise_xor), (B1_AND, np.bitwise_and)]
)
def test_m16n8k256_bits(device, a_type, operation):
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, (16, 256)), rng.integers(0, 2, (256, 8))
    ra = pack(
        np.stack(
            [
                np.stack([a[r, 32 * PLACE + i + k] for i in range(32)], -1)
                for r, k in ((GROUP, 0), (GROUP + 8, 0), (GROUP, 128), (GROUP + 8, 128))
            ]
        ),
        1,
    )
    rb = pack(
        np.stack(
            [np.stack([b[32 * PLACE + i + k, GROUP] for i in range(32)], -1) for k in (0, 128)]
        ),
        1,
    )
    d = mma(
        device,
        (16, 8, 256),
        (a_type, a_type, S32, S32),
        np.zeros((4, 32), np.int32),
        ra,
        rb,
        np.zeros((4, 32), np.int32),
    )
    expected = operation(a[:, :, None], b[None]).sum(1)
    np.testing.assert_array_equal(d[0], expected[GROUP, 2 * PLACE])
    np.testing.assert_array_equal(d[3], expected[GROUP + 8, 2 * PLACE + 1])


def test_m8n8k4_f64(device):
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(8, 4)), rng.normal(size=(4, 8)), rng.normal(size=(8, 8))
    rc = np.stack([c[GROUP, 2 * PLACE], c[GROUP, 2 * PLACE + 1]])
    d = mma(
        device,
        (8, 8, 4),
        (F64, F64, F64, F64),
        np.zeros((2, 32)),
        a[GROUP, PLACE][None],
        b[PLACE, GROUP][None],
        rc,
    )
    np.testing.assert_allclose(d[1], (a @ b + c)[GROUP, 2 * PLACE + 1], rtol=1e-13)


def test_f16_accumulator_rounds_once(device):
    """1 + 2^-11 + 2^-11 in f16: rounded after each addition it would stay 1."""
    one, tiny = np.float16(1), np.float16(2.0**-11)
    a = np.zeros((4, 32), np.uint32)
    b = np.zeros((2, 32), np.uint32)
    half = int(tiny.view(np.uint16))
    a[0] = half | half << 16  # a[g, 2p], a[g, 2p + 1] = 2^-11
    b[0, :] = np.where(PLACE == 0, int(one.view(np.uint16)) * 0x10001, 0)  # b[0], b[1] = 1
    c = np.full((2, 32), int(one.view(np.uint16)) * 0x10001, np.uint32)
    d = mma(device, (16, 8, 16), (F16, F16, F16, F16), np.zeros((2, 32), np.uint32), a, b, c)
    np.testing.assert_array_equal(d[0].view(np.float16), np.float16(1 + 2.0**-10))
    np.testing.assert_array_equal(d[1].view(np.float16), np.float16(1))


def test_sums_round_once_to_f16(device):
    """c + a b for every rounding situation of f16: near ties, subnormal, overflowing."""
    rng = np.random.default_rng(9)
    for _ in range(60):
        bits = rng.integers(0, 65536, (3, 32)).astype(np.uint16)
        bits[2] = np.where(rng.random(32) < 0.5, bits[2] & 0x3FF, bits[2])  # subnormal addends
        x, y, z = (v.view(np.float16).astype(np.float64) for v in bits)
        a, b = np.zeros((4, 32), np.uint32), np.zeros((2, 32), np.uint32)
        a[0] = np.where(PLACE == 0, bits[0], 0)  # A is its first column, B its first row
        b[0] = np.where(PLACE == 0, bits[1], 0)
        c = np.stack([bits[2].astype(np.uint32) * 0x10001, np.zeros(32, np.uint32)])
        d = mma(device, (16, 8, 16), (F16, F16, F16, F16), np.zeros((2, 32), np.uint32), a, b, c)
        column, row = x[4 * np.arange(8)], y[4 * np.arange(8)]
        for half, shift in enumerate((0, 16)):
            got = (d[0] >> np.uint32(shift)).astype(np.uint16)
            for lane in range(32):
                terms = [column[GROUP[lane]], row[2 * PLACE[lane] + half], z[lane]]
                # The other products are zero times zero, or times a number: nothing, or NaN.
                expected = fma(*map(float, terms), "f16")
                wanted = encode(expected, "f16")
                if wanted & 0x7FFF == 0:
                    assert got[lane] & 0x7FFF == 0
                else:
                    assert got[lane] == wanted, (terms, hex(got[lane]), hex(wanted))


def test_nan_and_infinity_reach_the_result_canonical(device):
    a = np.zeros((4, 32), np.uint32)
    a[0] = 0x7C00  # a[g, 0 2 4 6] infinite
    b = np.zeros((2, 32), np.uint32)  # times zero
    d = mma(
        device,
        (16, 8, 16),
        (F16, F16, F32, F32),
        np.zeros((4, 32), np.uint32),
        a,
        b,
        np.zeros((4, 32), np.uint32),
    )
    assert set(d[0]) == {0x7FFFFFFF}
    assert set(d[2]) == {0}


@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 8, 16), (8, 32, 16)])
def test_wmma_shapes_multiply(device, shape):
    """Fragments of the larger shapes: every element of D from random integer matrices."""
    m, n, k = shape
    rng = np.random.default_rng(6)
    a, b = (
        rng.integers(-4, 5, (m, k)).astype(np.float64),
        rng.integers(-4, 5, (k, n)).astype(np.float64),
    )
    ra, rb = np.zeros((m * k // 64, 32), np.uint32), np.zeros((k * n // 64, 32), np.uint32)
    for r in range(len(ra)):
        row, column = GROUP + 8 * (r % (m // 8)), 2 * PLACE + 8 * (r // (m // 8))
        ra[r] = pack(np.stack([words_of_f16(a)[row, column + i] for i in (0, 1)], -1)[None], 16)[0]
    for r in range(len(rb)):
        row, column = 2 * PLACE + 8 * (r % (k // 8)), GROUP + 8 * (r // (k // 8))
        rb[r] = pack(np.stack([words_of_f16(b)[row + i, column] for i in (0, 1)], -1)[None], 16)[0]
    d = mma(
        device,
        shape,
        (F16, F16, F32, F32),
        np.zeros((8, 32), np.float32),
        ra,
        rb,
        np.zeros((8, 32), np.float32),
    )
    result = np.full((m, n), np.nan)
    for r in range(8):
        row = GROUP + 8 * (r // 2 % (m // 8))
        result[row, 2 * PLACE + r % 2 + 8 * (r // 2 // (m // 8))] = d[r]
    np.testing.assert_array_equal(result, a @ b)


@pytest.mark.parametrize("c_type", [F16, F32])
@pytest.mark.parametrize(("a_row", "b_row"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_m8n8k4_quad_pairs(device, a_row, b_row, c_type):
    """Four independent products, from the ISA's formulas for lane and element."""
    rng = np.random.default_rng(7)
    a, b = (
        rng.integers(-4, 5, (4, 8, 4)).astype(np.float64),
        rng.integers(-4, 5, (4, 4, 8)).astype(np.float64),
    )
    c = rng.integers(-9, 9, (4, 8, 8)).astype(np.float64)
    ra, rb = np.zeros((32, 4), np.float16), np.zeros((32, 4), np.float16)
    rc = np.zeros((32, 8), np.float64)
    where = np.zeros((32, 8, 3), int)
    for lane in range(32):
        pair, upper = lane // 4 % 4, 0 if lane < 16 else 4
        for i in range(4):
            row, col = (lane % 4 + upper, i) if a_row else (i + upper, lane % 4)
            ra[lane, i] = a[pair, row, col]
            row, col = (lane % 4, i + upper) if b_row else (i, lane % 4 + upper)
            rb[lane, i] = b[pair, row, col]
        for i in range(8):
            if c_type == F16:
                row, col = lane % 4 + upper, i
            else:
                row, col = (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)
            where[lane, i] = pair, row, col
            rc[lane, i] = c[pair, row, col]

    def registers(halves):
        return np.ascontiguousarray(halves.astype(np.float16).view(np.uint32).T)

    accumulator = registers(rc) if c_type == F16 else np.ascontiguousarray(rc.astype(np.float32).T)
    d = np.zeros_like(accumulator)
    call = device.function("vg_mma_m8n8k4_f16", None, *("int",) * 4, *("pointer",) * 4)
    call(
        a_row,
        b_row,
        c_type,
        c_type,
        *(x.ctypes.data for x in (d, registers(ra), registers(rb), accumulator)),
    )
    flat = np.ascontiguousarray(d.T).view(np.float16 if c_type == F16 else np.float32)
    expected = (a @ b + c)[tuple(where.transpose(2, 0, 1))]
    np.testing.assert_array_equal(flat, expected)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [0, 1])
def test_ldmatrix_and_stmatrix(device, count, transposed):
    """Lane 4i + j holds elements (i, 2j) and (i, 2j+1) of each matrix, or of its transpose."""
    rng = np.random.default_rng(8)
    matrices = rng.integers(0, 65536, (4, 8, 8)).astype(np.uint16)
    rows = np.ascontiguousarray(matrices.reshape(32, 8).view(np.uint32).T)  # [word][lane]
    d = np.zeros((count, 32), np.uint32)
    load = device.function("vg_ldmatrix", None, "pointer", "pointer", "int", "int")
    load(d.ctypes.data, rows.ctypes.data, count, transposed)
    for j in range(count):
        matrix = matrices[j].T if transposed else matrices[j]
        low, high = matrix[GROUP, 2 * PLACE], matrix[GROUP, 2 * PLACE + 1]
        np.testing.assert_array_equal(
            d[j], low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)
        )
    back = np.zeros((4, 32), np.uint32)
    store = device.function("vg_stmatrix", None, "pointer", "pointer", "int", "int")
    store(back.ctypes.data, d.ctypes.data, count, transposed)
    np.testing.assert_array_equal(back[:, : 8 * count], rows[:, : 8 * count])
    if count == 1 and not transposed:
        moved = np.zeros((1, 32), np.uint32)
        run(device, device.function("vg_movmatrix", None, "pointer", "pointer"), moved, d)
        low = matrices[0].T[GROUP, 2 * PLACE].astype(np.uint32)
        np.testing.assert_array_equal(moved[0] & np.uint32(0xFFFF), low)


CASES = [
    (shape, operand, wmma)
    for table, wmma in ((tensor.MMA_SHAPES, False), (tensor.WMMA_SHAPES, True))
    for operand, shapes in table.items()
    for shape in sorted(shapes)
]


@pytest.mark.parametrize(("shape", "operand", "wmma"), CASES)
def test_fragments_cover_each_matrix_once(shape, operand, wmma):
    m, n, k = shape
    wide = operand if operand in ("f64",) else "f32"
    for matrix, element, size in (("a", operand, m * k), ("b", operand, k * n), ("c", wide, m * n)):
        layout = tensor.fragment(matrix, shape, element, wmma=wmma)
        columns = {"a": k, "b": n, "c": n}[matrix]
        where = layout.row.astype(int) * columns + layout.column
        words = 1 if tensor.TYPE_BITS[element] >= 8 else 32 // tensor.TYPE_BITS[element]
        assert len(np.unique(where)) == where.size == size // words
        assert where.min() == 0 and where.max() < size


# Elements narrower than a byte come in words; the test of m16n8k256 covers their order.
@pytest.mark.parametrize("matrix", ["a", "b", "c"])
@pytest.mark.parametrize(
    ("shape", "operand", "wmma"), [case for case in CASES if tensor.TYPE_BITS[case[1]] >= 8]
)
def test_layouts_agree_with_the_arithmetic(device, shape, operand, wmma, matrix):
    """A product with one element set and all-ones on the other side lands where the layout says."""
    float_bits = {"f16": 0x3C00, "bf16": 0x3F80, "tf32": 0x3F800000, "e4m3": 0x38}
    accumulator = "f64" if operand == "f64" else "s32" if operand == "s8" else "f32"
    one = float_bits.get(operand, 1)
    word = np.uint64 if operand == "f64" else np.uint32
    if operand == "f64":
        one = int(np.float64(1).view(np.uint64))
    acc_one = {"f64": one, "s32": 1, "f32": 0x3F800000}[accumulator]
    layouts = {
        name: tensor.fragment(name, shape, accumulator if name == "c" else operand)
        for name in "abc"
    }
    pick = layouts[matrix]
    bits = tensor.TYPE_BITS[accumulator if matrix == "c" else operand]
    slot, lane = pick.row.shape[0] - 1, 13
    registers = {}
    for name, layout in layouts.items():
        registers[name] = np.zeros((layout.unique, 32), word)
        if name == matrix:
            shift = word(bits * (slot % layout.per_register) % 64)
            value = word(acc_one if name == "c" else one) << shift
            registers[name][slot // layout.per_register, lane] = value
        elif name != "c" and (matrix, name) != ("c", "a"):
            for e in range(layout.per_register):
                registers[name] |= word(one) << word(bits * e % 64)
    codes = [tensor.TYPE_CODES[t] for t in (operand, operand, accumulator, accumulator)]
    d = np.zeros_like(registers["c"])
    mma(device, shape, codes, d, registers["a"], registers["b"], registers["c"])
    row, column = int(pick.row[slot, lane]), int(pick.column[slot, lane])
    c = layouts["c"]
    lit = {"a": c.row == row, "b": c.column == column}.get(matrix)
    if matrix == "c":
        lit = (c.row == row) & (c.column == column)
    np.testing.assert_array_equal(d, np.where(lit, word(acc_one), word(0)))


def instruction(text):
    op, *mods = text.split(".")
    return Instruction(op, tuple(mods), (), None, None, 1)


def test_every_instruction_has_its_function(device):
    """The names that lowering calls are there, for all shapes and types of the ISA."""
    names = set()
    for operand, shapes in tensor.MMA_SHAPES.items():
        for m, n, k in shapes:
            for d in {"f16": ("f16", "f32"), "e4m3": ("f16", "f32"), "f64": ("f64",)}.get(
                operand, ("f32",) if operand in ("bf16", "tf32") else ("s32",)
            ):
                tail = ".xor.popc" if operand == "b1" else ""
                text = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{d}.{operand}.{operand}.{d}{tail}"
                names.add(tensor.mma_function(instruction(text)))
    for m, n, k in tensor.WMMA_SHAPES["f16"]:
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                text = f"wmma.mma.sync.aligned.row.col.m{m}n{n}k{k}.{d}.{c}"
                names.add(tensor.wmma_function(instruction(text)))
    for operand, d in (
        ("bf16", "f32"),
        ("tf32", "f32"),
        ("s8", "s32"),
        ("u8", "s32"),
        ("f64", "f64"),
    ):
        for m, n, k in tensor.shapes(tensor.WMMA_SHAPES, operand):
            text = f"wmma.mma.sync.aligned.row.col.m{m}n{n}k{k}.{d}.{operand}.{operand}.{d}"
            names.add(tensor.wmma_function(instruction(text)))
    for layouts in ("row.col", "col.row", "row.row", "col.col"):
        text = f"mma.sync.aligned.m8n8k4.{layouts}.f32.f16.f16.f32"
        names.add(tensor.mma_function(instruction(text)))
    for a, b in (("s8", "u8"), ("u8", "s8"), ("u4", "s4"), ("e5m2", "e4m3")):
        shape, d = {"s4": ("m16n8k64", "s32"), "e4m3": ("m16n8k32", "f32")}.get(
            b, ("m16n8k32", "s32")
        )
        suffix = ".satfinite" if d == "s32" else ""
        text = f"mma.sync.aligned.{shape}.row.col{suffix}.{d}.{a}.{b}.{d}"
        names.add(tensor.mma_function(instruction(text)))
    assert len(names) > 50
    for name in names:
        device.function(name, None)


@pytest.mark.parametrize(
    "text",
    [
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32",
        "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.s32",
    ],
)
def test_what_the_isa_lacks_is_unsupported(text):
    with pytest.raises(Unsupported):
        tensor.mma_function(instruction(text))
