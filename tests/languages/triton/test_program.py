"""`grade run script.py`: a whole script on the virtual GPU, its findings in Triton's words."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from grader.cli import app
from grader.errors import UsageError
from grader.languages import inductor, triton_program
from grader.result import Severity

needs_torch = pytest.mark.skipif(inductor.missing() is not None, reason=f"{inductor.missing()}")

SCRIPT = """\
import sys

import torch
import triton
import triton.language as tl
from sizes import ELEMENTS


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x + y, mask=offsets < n)


x = torch.rand(ELEMENTS, device="cuda")
y = torch.rand(ELEMENTS, device="cuda:0")
out = torch.empty_like(x)
assert x.is_cuda and out.device == torch.device("cuda", 0)
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
for _ in range(3):
    add_kernel[lambda meta: (triton.cdiv(ELEMENTS, meta["BLOCK_SIZE"]),)](
        x, y, out, ELEMENTS, BLOCK_SIZE=256
    )
end.record()
torch.cuda.synchronize()
assert start.elapsed_time(end) > 0
print("equal:", torch.equal(out, x + y), sys.argv[1:])
if "raise" in sys.argv:
    raise KeyError("asked for")
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "sizes.py").write_text("ELEMENTS = 1000\n")
    path = tmp_path / "add.py"
    path.write_text(SCRIPT)
    return path


@needs_torch
def test_a_script_with_a_missing_mask(script, tmp_path):
    out = tmp_path / "run.json"
    told = CliRunner().invoke(app, ["run", str(script), "--json", str(out), "--", "one", "two"])
    assert told.exit_code == 1, told.output
    assert "equal: True ['one', 'two']" in told.output
    found = json.loads(out.read_text())
    (kernel,) = found["kernels"]
    assert (kernel["kernel"], kernel["grid"], kernel["launches"]) == ("add_kernel", [4, 1, 1], 3)
    assert kernel["ended"] == "finished"
    assert kernel["modelled_milliseconds"] > 0
    (fault,) = kernel["faults"]
    assert (fault["kind"], fault["line"], fault["index"]) == ("out_of_bounds", 12, 1000)
    assert fault["advice"] == "Add `mask=offsets < n`."
    assert "load of `x_ptr` past its end" in fault["message"]
    assert found["error"] == ""


@needs_torch
def test_what_torch_compile_writes_imports_and_guards_a_device(tmp_path):
    path = tmp_path / "generated.py"
    path.write_text(
        "import torch\nfrom torch._C import _cuda_getCurrentRawStream as get_raw_stream\n"
        "from torch._C._dynamo.guards import _empty_strided_cuda\n"
        "with torch.cuda._DeviceGuard(0), torch.cuda.device_of(torch.ones(1)):\n"
        "    x = _empty_strided_cuda((2, 3), (3, 1), torch.float16)\n"
        "    generator = torch.cuda.default_generators[0]\n"
        "    seed, offset = generator.get_state().view(torch.int64)\n"
        "    generator.set_state(torch.tensor([7, 4]).view(torch.uint8))\n"
        "    print('stream', get_raw_stream(0), x.shape, int(seed), generator.initial_seed())\n"
    )
    found = triton_program.run(path)
    assert (found.error, found.printed.strip()) == (
        "",
        "stream 0 torch.Size([2, 3]) 0 7",
    )


@needs_torch
def test_a_kernel_in_a_module_beside_the_script(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "more.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def bump(x_ptr, o_ptr, n, BLOCK: tl.constexpr):\n    offs = tl.arange(0, BLOCK)\n"
        "    x = tl.load(x_ptr + offs, mask=offs < n)\n"
        "    tl.store(x_ptr + offs, x + 1, mask=offs < n)\n    tl.store(o_ptr + offs, x)\n"
    )
    path = tmp_path / "main.py"
    path.write_text(
        "import torch\nfrom kernels.more import bump\n"
        "bump[(1,)](torch.ones(5), torch.ones(5), 5, BLOCK=8)\n"
    )
    (kernel,) = triton_program.run(path).kernels
    (fault,) = kernel.faults  # and no race with the spare threads' copies of the block
    assert (fault.file, fault.line, fault.advice) == ("more.py", 10, "Add `mask=offs < n`.")
    assert (
        fault.message
        == "store of `o_ptr` past its end: 3 elements (program 0, offsets 5 to 7; it has 5)"
    )


@needs_torch
def test_a_script_that_raises_says_where(script):
    script.write_text(SCRIPT.replace("x_ptr + offsets)", "x_ptr + offsets, offsets < n, 0.0)"))
    found = triton_program.run(script, ["raise"])
    assert found.error == "KeyError: 'asked for'"
    assert found.error_line == len(SCRIPT.splitlines())
    assert [f for k in found.kernels for f in k.faults if f.severity is Severity.ERROR] == []
    assert found.exit_code == 1


def test_a_file_that_is_not_there(tmp_path):
    if inductor.missing():
        pytest.skip(inductor.missing())
    with pytest.raises(UsageError, match="cannot be read"):
        triton_program.run(tmp_path / "no.py")


def test_a_kernel_takes_no_arguments_after_two_dashes(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k() {}\n")
    told = CliRunner().invoke(app, ["run", str(path), "--", "x"])
    assert isinstance(told.exception, UsageError)
