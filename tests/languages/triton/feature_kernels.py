"""Small Triton kernels, one for each part of the language; `test_features.py` runs them."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def dot(
    a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    if PRECISION == "":
        c = tl.dot(a, b)
    else:
        c = tl.dot(a, b, input_precision=PRECISION)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        a_mask = (m[:, None] < M) & (k[None, :] < K - start)
        b_mask = (k[:, None] < K - start) & (n[None, :] < N)
        acc = tl.dot(tl.load(a, mask=a_mask, other=0.0), tl.load(b, mask=b_mask, other=0.0), acc)
        a += BK * stride_ak
        b += BK * stride_bk
    c = c_ptr + m[:, None] * N + n[None, :]
    tl.store(c, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def softmax(out_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def largest_magnitude(a, b):
    return tl.where(tl.abs(a) > tl.abs(b), a, b)


@triton.jit
def reductions(x_ptr, out_ptr, index_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    r = tl.arange(0, R)
    tl.store(out_ptr + r, tl.sum(x, axis=1))
    tl.store(out_ptr + R + r, tl.max(x, axis=1))
    tl.store(out_ptr + 2 * R + r, tl.min(x, axis=1))
    tl.store(out_ptr + 3 * R + r, tl.reduce(x, 1, largest_magnitude))
    tl.store(index_ptr + r, tl.argmax(x, axis=1))
    tl.store(index_ptr + R + r, tl.argmin(x, axis=1))
    tl.store(index_ptr + 2 * R + r, tl.xor_sum((x * 1000).to(tl.int32), axis=1))


@triton.jit
def decayed(a_f, a_x, b_f, b_x):
    return a_f * b_f, a_x * b_f + b_x


@triton.jit
def scans(x_ptr, f_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, axis=0))
    tl.store(out_ptr + N + i, tl.cumsum(x, axis=0, reverse=True))
    tl.store(out_ptr + 2 * N + i, tl.cumprod(1.0 + x / 100, axis=0))
    _, y = tl.associative_scan((tl.load(f_ptr + i), x), 0, decayed)
    tl.store(out_ptr + 3 * N + i, y)


@triton.jit
def orders(x_ptr, index_ptr, out_ptr, counts_ptr, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    at = tl.load(index_ptr + i)
    tl.store(out_ptr + i, tl.sort(x))
    tl.store(out_ptr + N + i, tl.sort(x, descending=True))
    tl.store(out_ptr + 2 * N + i, tl.flip(x))
    tl.store(out_ptr + 3 * N + i, tl.gather(x, at, 0))
    tl.store(counts_ptr + tl.arange(0, BINS), tl.histogram(at % BINS, BINS))


@triton.jit
def shapes(x_ptr, y_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    n = R * C
    i = tl.arange(0, R * C)
    tl.store(out_ptr + i, tl.reshape(tl.trans(x), (R * C,)))
    low, high = tl.split(tl.join(x, y))
    tl.store(out_ptr + n + at, low - high)
    j = tl.arange(0, R)[:, None] * (2 * C) + tl.arange(0, 2 * C)[None, :]
    tl.store(out_ptr + 2 * n + j, tl.interleave(x, y))
    wide = tl.broadcast_to(tl.sum(x, axis=0)[None, :], (R, C))
    tl.store(out_ptr + 4 * n + at, wide)


@triton.jit
def atomics(x_ptr, ints_ptr, floats_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.atomic_add(ints_ptr + x % 8, 1)
    tl.atomic_max(ints_ptr + 8 + x % 8, x)
    tl.atomic_min(ints_ptr + 16 + x % 8, x)
    tl.atomic_xor(ints_ptr + 24, tl.xor_sum(x, axis=0))
    tl.atomic_or(ints_ptr + 25 + x * 0, x)
    tl.atomic_and(ints_ptr + 26 + x * 0, x)
    tl.atomic_add(floats_ptr + x % 4, 0.5)
    tl.atomic_add(floats_ptr + 4, 1.0, mask=tl.program_id(0) > 0)


@triton.jit
def locked_sum(x_ptr, lock_ptr, total_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    part = tl.load(x_ptr + tl.program_id(0) * N + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr + i, tl.load(total_ptr + i) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def maths(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.exp(x))
    tl.store(out_ptr + N + i, tl.log(x))
    tl.store(out_ptr + 2 * N + i, tl.sin(x))
    tl.store(out_ptr + 3 * N + i, tl.cos(x))
    tl.store(out_ptr + 4 * N + i, tl.sqrt_rn(x))
    tl.store(out_ptr + 5 * N + i, tl.rsqrt(x))
    tl.store(out_ptr + 6 * N + i, tl.erf(x))
    tl.store(out_ptr + 7 * N + i, libdevice.tanh(x))
    tl.store(out_ptr + 8 * N + i, libdevice.pow(x, 1.5))
    tl.store(out_ptr + 9 * N + i, tl.floor(x * 3) + tl.ceil(x * 5))
    tl.store(out_ptr + 10 * N + i, tl.div_rn(x, 3.0))
    tl.store(out_ptr + 11 * N + i, tl.fma(x, x, 1.0))
    tl.store(out_ptr + 12 * N + i, tl.sigmoid(x))
    tl.store(out_ptr + 13 * N + i, tl.clamp(x, 0.5, 1.5))
    tl.store(out_ptr + 14 * N + i, tl.log2(x) + tl.exp2(x))
    tl.store(out_ptr + 15 * N + i, libdevice.log1p(x))


@triton.jit
def integers(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x // y)
    tl.store(out_ptr + N + i, x % y)
    tl.store(out_ptr + 2 * N + i, (x << 3) ^ (x >> 2))
    tl.store(out_ptr + 3 * N + i, tl.cdiv(x, y))
    tl.store(out_ptr + 4 * N + i, tl.umulhi(x.to(tl.uint32), y.to(tl.uint32)).to(tl.int32))
    tl.store(out_ptr + 5 * N + i, (x.to(tl.int64) * y).to(tl.int32))
    tl.store(out_ptr + 6 * N + i, tl.minimum(x, y) - tl.maximum(x, y) + tl.abs(x))
    tl.store(out_ptr + 7 * N + i, ~x & y)


@triton.jit
def conversions(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.to(tl.float16).to(tl.float32))
    tl.store(out_ptr + N + i, x.to(tl.bfloat16).to(tl.float32))
    tl.store(out_ptr + 2 * N + i, x.to(tl.float8e5).to(tl.float32))
    tl.store(out_ptr + 3 * N + i, x.to(tl.int8).to(tl.float32))
    tl.store(out_ptr + 4 * N + i, x.to(tl.int32, bitcast=True).to(tl.float32))
    tl.store(out_ptr + 5 * N + i, x.to(tl.float64).to(tl.float32))
    tl.store(out_ptr + 6 * N + i, tl.abs(x).to(tl.uint8).to(tl.float32))


@triton.jit
def random(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.rand(seed, i))
    tl.store(out_ptr + N + i, tl.randn(seed, i))


@triton.jit
def loops(x_ptr, out_ptr, n, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in tl.range(0, n, BLOCK, num_stages=3):
        acc += tl.load(x_ptr + start + i, mask=start + i < n, other=0.0)
    for s in tl.static_range(STEPS):
        acc += s
    left = n
    while left > 3:
        left = left // 2
        if left % 2 == 0:
            acc += 1.0
        else:
            acc -= 0.5
    tl.store(out_ptr + i, acc)


@triton.jit
def described(x_ptr, out_ptr, rows, cols, R: tl.constexpr, C: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [R, C])
    out = tl.make_tensor_descriptor(out_ptr, [rows, cols], [cols, 1], [R, C])
    at = [tl.program_id(0) * R, tl.program_id(1) * C]
    out.store(at, x.load(at) * 2)


@triton.jit
def host_described(x, out, R: tl.constexpr, C: tl.constexpr):
    at = [tl.program_id(0) * R, tl.program_id(1) * C]
    out.store(at, x.load(at) + 1)


@triton.jit
def inline_ptx(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise(
        "shf.l.wrap.b32 $0, $1, $1, 5;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, y)


@triton.jit
def cached(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_last")
    b = tl.load(x_ptr + i, eviction_policy="evict_first", volatile=True)
    tl.store(out_ptr + i, a + b, cache_modifier=".cs")


@triton.jit
def grid_of_three(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + at, x + 10 * y + 100 * z)


@triton.jit
def prints(x_ptr, N: tl.constexpr):
    tl.device_print("x is", tl.load(x_ptr + tl.arange(0, N)))


@triton.jit(debug=True)
def asserts(x_ptr, limit, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x < limit, "too large")
