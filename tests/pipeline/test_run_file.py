"""`grade run FILE`: one launch with every check, and a clear error for every wrong command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from grader import run_file
from grader.cli import main
from grader.devices import virtual
from grader.errors import UsageError
from grader.run import Run, Work

SOURCE = """#include <cstdio>
template <class T, int N> __global__ void fill(T* x) { x[threadIdx.x] = N; }
__global__ void vec_add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= N) C[i] = A[i] + B[i];
}
__global__ void sum(const float4* x, float* total, unsigned n) {
  extern __shared__ float s[];
  s[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x].y : 0;
  if (threadIdx.x == 0) for (int i = 0; i < blockDim.x; ++i) *total += s[i];
}
__global__ void twice(float* x) {}
__global__ void twice(int* x) {}
__global__ void endless(int* x) { while (atomicAdd(x, 0) == 0) {} }
__global__ void copy(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
int main() { fill<float, 7><<<1, 32>>>(nullptr); printf("host\\n"); }
"""

VEC_ADD = ["--kernel", "vec_add", "--grid", "4", "--block", "256"]
ARGUMENTS = ["A:f32[1000]", "f32[1000]", "C:f32[1000]=0", "N:i32=999"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "kernels.cu"
    path.write_text(SOURCE)
    return path


def grade_run(source: Path, *options: str, args: list[str] = ARGUMENTS) -> int:
    """The exit code of the command."""
    with pytest.raises(SystemExit) as caught:
        main(["run", str(source), *options, *(w for a in args for w in ("--arg", a))])
    return int(str(caught.value.code))


def found(
    source: Path, kernel: str, args: list[str], block: int = 256, **more: int
) -> run_file.FileRun:
    return run_file.run(
        source,
        kernel=kernel,
        grid=(more.get("grid", 1), 1, 1),
        block=(block, 1, 1),
        shared_bytes=more.get("shared", 0),
        specs=args,
    )


def test_a_clean_run_exits_0_and_gives_the_outputs(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    args = ["A:f32[1000]=1.5", "f32[1000]=2", "C:f32[1000]=undefined", "N:i32=999"]
    assert grade_run(source, *VEC_ADD, "--json", str(out), args=args) == 0
    data = json.loads(out.read_text())
    assert data["schema"] == "grade/run/v1"
    assert (data["kernel"], data["ended"], data["faults"]) == ("vec_add", "finished", [])
    assert data["outputs"]["C"] == {"type": "f32", "values": [3.5] * 1000}
    assert data["metrics"]["counts"]["flops"] == 1000
    assert data["registers"] > 0


def test_a_fault_exits_1_with_its_line_and_buffer(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grade_run(source, *VEC_ADD, args=[*ARGUMENTS[:3], "N:i32=1000"]) == 1
    said = capsys.readouterr().out
    assert "kernels.cu: vec_add, 4 blocks of 256 threads: 3 errors" in said
    assert "kernels.cu:5: write to C[1000], but C has 1000 elements" in said
    assert ">     5 |   if (i <= N) C[i] = A[i] + B[i];" in said


@pytest.mark.parametrize(("only", "variants"), [(False, 2), (True, 1)])
def test_both_builds_run_unless_told_otherwise(
    source: Path, monkeypatch: pytest.MonkeyPatch, only: bool, variants: int
) -> None:
    asked: list[str] = []

    def run(works: Sequence[Work]) -> list[Run]:
        asked.extend(work.variant for work in works)
        return [Run("finished") for _ in works]

    monkeypatch.setattr(virtual, "run", run)
    run_file.run(
        source,
        kernel="vec_add",
        grid=(4, 1, 1),
        block=(256, 1, 1),
        shared_bytes=0,
        specs=ARGUMENTS,
        optimised_only=only,
    )
    assert asked == ["optimised", "unoptimised"][:variants]


def test_missing_barrier_is_a_race_and_is_run_in_reverse_too(source: Path) -> None:
    run = found(source, "sum", ["x:f32[1024]", "total:f32[1]=0", "n:u32=256"], shared=1024)
    assert "race" in {fault.kind for fault in run.faults}
    assert run.exit_code == 1
    assert run.reason.startswith("with the warps in reverse order")


def test_a_template_instance_and_files(source: Path, tmp_path: Path) -> None:
    run = found(source, "fill<float, 7>", ["x:f32[32]=0"], block=32)
    assert run.outputs["x"].values == (7.0,) * 32
    values = np.arange(8, dtype=np.float32)
    np.save(tmp_path / "a.npy", values)
    run = found(source, "copy", [f"f32@{tmp_path}/a.npy", "f32[8]=0"], block=8)
    assert run.outputs["to"].values == tuple(values)


def test_reading_what_was_never_written_is_found(source: Path) -> None:
    run = found(source, "copy", ["from:f32[8]=undefined", "to:f32[8]=0"], block=8)
    assert {fault.kind for fault in run.faults} == {"uninitialised"}


def test_an_endless_loop_ends(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "FUEL", 100_000)
    run = found(source, "endless", ["x:i32[1]=0"], block=32)
    assert (run.ended, run.exit_code) == ("fuel", 1)
    assert "an endless loop?" in run.reason


def test_a_file_that_does_not_compile_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.cu"
    path.write_text("__global__ void k(float* x) {\n  x[0] = y;\n}\n")
    assert grade_run(path, "--grid", "1", "--block", "1", args=["f32[1]"]) == 1
    said = capsys.readouterr().out
    assert "bad.cu, 1 blocks of 1 threads: build failed" in said
    assert 'bad.cu:2: identifier "y" is undefined' in said


LAUNCH = ["--grid", "1", "--block", "32"]


@pytest.mark.parametrize(
    ("options", "args", "words"),
    [
        (["--block", "32"], [], "expected --grid: how many blocks"),
        (["--grid", "1"], [], "expected --block: how many blocks"),
        (["--grid", "1,2,3,4", "--block", "1"], [], "expected --grid X, X,Y or X,Y,Z"),
        (["--grid", "x", "--block", "1"], [], "expected --grid X, X,Y or X,Y,Z"),
        (["--grid", "0", "--block", "1"], [], "CUDA refuses this launch (invalid configuration"),
        (["--grid", "1", "--block", "0"], [], "block x is 0, expected 1 to 1024"),
        (["--grid", "1,70000", "--block", "1"], [], "grid y is 70000, expected 1 to 65535"),
        (["--grid", "1", "--block", "32,32,2"], [], "32 × 32 × 2 = 2048 threads"),
        (["--grid", "1", "--block", "1,1,65"], [], "block z is 65, expected 1 to 64"),
        ([*LAUNCH, "--shared", "-1"], [], "expected --shared of at least 0 bytes"),
        ([*LAUNCH, "--kernel", "copy", "--shared", "200000"], ["f32[32]", "f32[32]"],
         "CUDA refuses this launch"),
        (LAUNCH, [], "expected --kernel with one of copy, endless, sum, twice, vec_add, fill<…>"),
        ([*LAUNCH, "--kernel", "vec_ad"], [], "has no kernel vec_ad"),
        ([*LAUNCH, "--kernel", "twice"], [], "twice is the name of 2 kernels"),
        ([*LAUNCH, "--kernel", "fill"], [],
         "fill is a template of T, N: name an instance, such as --kernel 'fill<float, 7>'"),
        ([*LAUNCH, "--kernel", "vec_add"], ["f32[3]"],
         "vec_add takes 4 arguments (const float* A, const float* B, float* C, int N), found 1"),
        ([*LAUNCH, "--kernel", "copy"], ["to:f32[3]", "from:f32[3]"],
         "parameter 1 of copy is from"),
        ([*LAUNCH, "--kernel", "copy"], ["f64[3]", "f32[3]"],
         "parameter 1 of copy is const float*: expected f32, found f64"),
        ([*LAUNCH, "--kernel", "copy"], ["f32=3", "f32[3]"],
         "expected a buffer such as f32[1000], found a scalar"),
        ([*LAUNCH, "--kernel", "vec_add"], ["f32[3]", "f32[3]", "f32[3]", "i32[1]"],
         "expected a scalar such as i32=1000, found a buffer"),
        ([*LAUNCH, "--kernel", "sum"], ["f32[3]", "f32[1]", "u32=3"],
         "expected a multiple of 4 elements of f32, found 3"),
        ([*LAUNCH, "--kernel", "sum"], ["f32[4]", "f32[1]", "i32=3"],
         "parameter 3 of sum is unsigned int: expected u32, found i32"),
    ],
)  # fmt: skip
def test_a_wrong_command_is_told_what_was_expected(
    source: Path,
    options: list[str],
    args: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert grade_run(source, *options, args=args) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_files_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.cu").write_bytes(b"\xff\xfe")
    for name, words in [
        ("a.py", "expected a CUDA C file"),
        ("b.cu", "is not UTF-8 text: byte 0"),
        ("absent.cu", "No such file"),
    ]:
        with pytest.raises(UsageError) as caught:
            found(tmp_path / name, "k", [])
        assert words in caught.value.message
