"""Each part of Triton runs on the virtual GPU, gives torch's numbers, and raises no fault."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton has wheels for Linux only")
torch = pytest.importorskip("torch", reason="needs torch tensors to launch with")

sys.path.insert(0, str(Path(__file__).parent))
import feature_kernels as k  # noqa: E402  (after the path; Triton reads its source file)

from grader.languages.triton_driver import virtual_gpu  # noqa: E402


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))


@pytest.fixture
def gpu():
    with virtual_gpu() as device:
        yield device
    for run in device.launches:
        assert run.ended == "finished", run.reason
        assert [f for f in run.faults if f.severity == "error"] == []


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


def close(actual, expected, *, atol=1e-5, rtol=1e-5):
    torch.testing.assert_close(actual, expected, atol=atol, rtol=rtol)


DOTS = {
    "fp16": (torch.float16, "", 2e-3),
    "bf16": (torch.bfloat16, "", 2e-3),
    "tf32": (torch.float32, "tf32", 2e-2),
    "tf32 by default": (torch.float32, "", 2e-2),
    "three times tf32": (torch.float32, "tf32x3", 1e-5),
    "fp32": (torch.float32, "ieee", 1e-5),
    "fp64": (torch.float64, "", 1e-12),
}


@pytest.mark.parametrize("kind", DOTS)
def test_dot(gpu, kind):
    dtype, precision, atol = DOTS[kind]
    a, b = torch.randn(32, 32).to(dtype), torch.randn(32, 32).to(dtype)
    c = torch.empty(32, 32, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    k.dot[(1,)](a, b, c, 32, 32, 32, precision)
    exact = a.double() @ b.double()
    close(c.double(), exact, atol=atol * 5.7, rtol=0)
    if "tf32" in kind and "three" not in kind:
        assert (c.double() - exact).abs().max() > 1e-4  # tf32 really rounds


def test_dot_of_bytes(gpu):
    a = torch.randint(-128, 128, (32, 64), dtype=torch.int8)
    b = torch.randint(-128, 128, (64, 32), dtype=torch.int8)
    c = torch.empty(32, 32, dtype=torch.int32)
    k.dot[(1,)](a, b, c, 32, 32, 64, "")
    assert torch.equal(c, a.int() @ b.int())


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_pipelined_matmul(gpu, stages, transposed):
    a = torch.randn(40, 80, dtype=torch.float16)
    b = torch.randn(48, 80, dtype=torch.float16).T if transposed else torch.randn(80, 48).half()
    c = torch.empty(40, 48, dtype=torch.float16)
    k.matmul[(2, 2)](
        a, b, c, 40, 48, 80, *a.stride(), *b.stride(), BM=32, BN=32, BK=32, num_stages=stages
    )
    close(c.float(), a.float() @ b.float(), atol=2e-2, rtol=2e-3)


def test_softmax_of_rows(gpu):
    x = torch.randn(7, 300)
    y = torch.empty_like(x)
    k.softmax[(7,)](y, x, x.stride(0), 300, BLOCK=512)
    close(y, torch.softmax(x, 1))


def test_reductions(gpu):
    x = torch.randn(16, 64)
    out, index = torch.empty(4, 16), torch.empty(3, 16, dtype=torch.int32)
    k.reductions[(1,)](x, out, index, 16, 64)
    magnitude = x.gather(1, x.abs().argmax(1, keepdim=True))[:, 0]
    close(out, torch.stack([x.sum(1), x.max(1)[0], x.min(1)[0], magnitude]))
    whole = np.bitwise_xor.reduce((x * 1000).int().numpy(), axis=1)
    assert torch.equal(index[:2], torch.stack([x.argmax(1), x.argmin(1)]).int())
    assert np.array_equal(index[2].numpy(), whole)


def test_scans(gpu):
    x, f = torch.randn(256), torch.rand(256)
    out = torch.empty(4, 256)
    k.scans[(1,)](x, f, out, 256)
    y, last = [], 0.0
    for a, b in zip(f.tolist(), x.tolist(), strict=True):
        last = last * a + b
        y.append(last)
    close(out[0], x.cumsum(0), atol=1e-4)
    close(out[1], x.flip(0).cumsum(0).flip(0), atol=1e-4)
    close(out[2], (1 + x / 100).cumprod(0))
    close(out[3], torch.tensor(y), atol=1e-4)


def test_sort_gather_histogram(gpu):
    x, at = torch.randn(128), torch.randint(0, 128, (128,), dtype=torch.int32)
    out, counts = torch.empty(4, 128), torch.empty(16, dtype=torch.int32)
    k.orders[(1,)](x, at, out, counts, 128, 16)
    up = x.sort()[0]
    assert torch.equal(out, torch.stack([up, up.flip(0), x.flip(0), x[at.long()]]))
    assert torch.equal(counts, torch.bincount(at % 16, minlength=16).int())


def test_shapes(gpu):
    x, y = torch.randn(8, 32), torch.randn(8, 32)
    out = torch.empty(5 * 256)
    k.shapes[(1,)](x, y, out, 8, 32)
    close(out[:256], x.T.reshape(-1))
    close(out[256:512], (x - y).reshape(-1))
    close(out[512:1024], torch.stack([x, y], 2).reshape(-1))
    close(out[1024:], x.sum(0).expand(8, 32).reshape(-1))


def test_atomics(gpu):
    x = torch.randint(0, 1000, (512,), dtype=torch.int32)
    ints = torch.zeros(27, dtype=torch.int32)
    ints[16:24], ints[26] = 10_000, -1
    floats = torch.zeros(5)
    k.atomics[(4,)](x, ints, floats, 128)
    by = [x[x % 8 == r] for r in range(8)]
    assert ints[:8].tolist() == [len(v) for v in by]
    assert ints[8:16].tolist() == [int(v.max()) for v in by]
    assert ints[16:24].tolist() == [int(v.min()) for v in by]
    numbers = x.numpy()
    assert int(ints[24]) == np.bitwise_xor.reduce(numbers)
    assert int(ints[25]) == np.bitwise_or.reduce(numbers)
    assert int(ints[26]) == np.bitwise_and.reduce(numbers)
    assert floats[:4].tolist() == [0.5 * int((x % 4 == r).sum()) for r in range(4)]
    assert floats[4] == 3.0


def test_a_lock_between_programs(gpu):
    x = torch.ones(8, 128)
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(128)
    k.locked_sum[(8,)](x, lock, total, 128)
    assert total.tolist() == [8.0] * 128
    assert lock.item() == 0


def test_maths(gpu):
    x = torch.rand(128) * 2 + 0.1
    out = torch.empty(16, 128)
    k.maths[(1,)](x, out, 128)
    d = x.double()
    expected = [
        d.exp(), d.log(), d.sin(), d.cos(), d.sqrt(), d.rsqrt(), torch.erf(d), d.tanh(), d**1.5,
        (x * 3).floor() + (x * 5).ceil(), d / 3, d * d + 1, d.sigmoid(), d.clamp(0.5, 1.5),
        d.log2() + torch.exp2(d), d.log1p(),
    ]  # fmt: skip
    close(out.double(), torch.stack([e.double() for e in expected]), atol=2e-6, rtol=2e-6)


def test_integers(gpu):
    x = torch.randint(0, 1 << 30, (128,), dtype=torch.int32)
    y = torch.randint(1, 1000, (128,), dtype=torch.int32)
    out = torch.empty(8, 128, dtype=torch.int32)
    k.integers[(1,)](x, y, out, 128)
    a, b = x.numpy().astype(np.int64), y.numpy().astype(np.int64)
    expected = [
        a // b, a % b, (a << 3) ^ (a >> 2), -(-a // b), (a * b) >> 32, a * b,
        np.minimum(a, b) - np.maximum(a, b) + a, ~a & b,
    ]  # fmt: skip
    assert np.array_equal(out.numpy(), np.stack(expected).astype(np.int32))


def test_conversions(gpu):
    x = (torch.randn(128) * 50).clamp(-127, 127)  # beyond int8 the result is undefined
    out = torch.empty(7, 128)
    k.conversions[(1,)](x, out, 128)
    expected = [
        x.half(), x.bfloat16(), x.to(torch.float8_e5m2), x.to(torch.int8), x.view(torch.int32),
        x, x.abs().to(torch.uint8),
    ]  # fmt: skip
    assert torch.equal(out, torch.stack([e.float() for e in expected]))


def test_random_numbers(gpu):
    out = torch.empty(2, 1024)
    k.random[(1,)](out, 42, 1024)
    assert out[0].min() >= 0 and out[0].max() < 1
    assert abs(out[0].mean() - 0.5) < 0.03
    assert abs(out[1].mean()) < 0.1 and abs(out[1].std() - 1) < 0.1
    again = torch.empty(2, 1024)
    k.random[(1,)](again, 42, 1024)
    assert torch.equal(out, again)


def test_loops(gpu):
    x = torch.randn(1000)
    out = torch.empty(128)
    k.loops[(1,)](x, out, 1000, BLOCK=128, STEPS=4)
    padded = torch.nn.functional.pad(x, (0, 24)).reshape(8, 128).sum(0)
    left, extra = 1000, 6.0
    while left > 3:
        left //= 2
        extra += 1.0 if left % 2 == 0 else -0.5
    close(out, padded + extra)


def test_tensor_descriptors(gpu):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = torch.randn(50, 72)
    out = torch.zeros_like(x)
    k.described[(2, 3)](x, out, 50, 72, 32, 32)
    close(out, x * 2)
    k.host_described[(2, 3)](
        TensorDescriptor.from_tensor(x, [32, 32]), TensorDescriptor.from_tensor(out, [32, 32]),
        32, 32,
    )  # fmt: skip
    close(out, x + 1)


def test_inline_ptx(gpu):
    x = torch.randint(-(1 << 31), 1 << 31, (128,), dtype=torch.int32)
    out = torch.empty_like(x)
    k.inline_ptx[(1,)](x, out, 128)
    u = x.numpy().view(np.uint32)
    assert np.array_equal(out.numpy().view(np.uint32), (u << 5) | (u >> 27))


def test_cache_modifiers(gpu):
    x = torch.randn(256)
    out = torch.empty_like(x)
    k.cached[(1,)](x, out, 256)
    close(out, 2 * x)


def test_a_grid_of_three_axes(gpu):
    out = torch.empty(4 * 3 * 2, dtype=torch.int32)
    k.grid_of_three[(2, 3, 4)](out)
    x, y, z = np.meshgrid(range(2), range(3), range(4), indexing="ij")
    assert out.tolist() == (x + 10 * y + 100 * z).transpose(2, 1, 0).reshape(-1).tolist()


def test_device_print(gpu, capsys):
    k.prints[(1,)](torch.arange(128, dtype=torch.int32), 128)
    printed = capsys.readouterr().out
    assert printed == gpu.launches[0].printed
    assert printed.count("pid (0, 0, 0) idx") == 128
    assert "idx ( 77) x is: 77" in printed


def test_device_assert():
    x = torch.arange(64, dtype=torch.int32)
    with virtual_gpu() as gpu:
        k.asserts[(1,)](x, 64, 64)
        with pytest.raises(RuntimeError, match="too large"):
            k.asserts[(1,)](x, 60, 64)
    assert [run.ended for run in gpu.launches] == ["finished", "assertion"]


def test_views_share_a_storage_and_may_reach_all_of_it(gpu):
    whole = torch.arange(8 * 128, dtype=torch.float32).reshape(8, 128)
    k.softmax[(2,)](whole[2:], whole[4:], 128, 100, BLOCK=128)  # two views of one storage
    expected = torch.softmax(torch.arange(512.0, 612.0), 0)
    close(whole[2, :100], expected)
    assert whole[2, 100:].tolist() == list(range(356, 384))
    (fault,) = [f for f in gpu.launches[0].faults if f.severity != "note"] or [None]
    assert fault is None


def test_a_store_outside_a_tensor_changes_nothing_and_is_named():
    x, out = torch.randn(256), torch.zeros(100)
    with virtual_gpu("bounds") as gpu:
        k.cached[(1,)](x, out, 256)
    (fault,) = gpu.launches[0].faults
    assert (fault.kind, fault.access, fault.buffer, fault.extent) == (
        "out_of_bounds", "write", "out_ptr", 100,
    )  # fmt: skip
    assert fault.file.endswith("feature_kernels.py")
    assert fault.line == next(
        number
        for number, line in enumerate(Path(k.__file__).read_text().splitlines(), start=1)
        if 'cache_modifier=".cs"' in line
    )
    close(out, 2 * x[:100])


def test_drivers_do_not_outlive_their_block():
    x, out = torch.randn(256), torch.zeros(256)
    with virtual_gpu() as first:
        k.cached[(1,)](x, out, 256)
    with virtual_gpu("bounds") as second:
        k.cached[(1,)](x, out, 256)
    assert (len(first.launches), len(second.launches)) == (1, 1)
