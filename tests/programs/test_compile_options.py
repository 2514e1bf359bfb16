"""`grade run -D NAME[=VALUE] -I FOLDER`: all files of a program, and a single kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import cli
from grader.errors import UsageError
from grader.file_to_run import definitions, headers_beside
from tests.programs.running import needs_host

PROGRAM = """#include <cstdio>
#include <util/sizes.h>
int plus();
__global__ void scale(int* out) { *out = N * FACTOR; }
#ifdef WITH_MAIN
int main() {
  int *out, host;
  cudaMalloc(&out, 4);
  scale<<<1, 1>>>(out);
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
  printf("%d %d %s\\n", host, plus(), TEXT);
  cudaFree(out);
}
#endif
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "lib/util").mkdir(parents=True)
    (tmp_path / "lib/util/sizes.h").write_text('#include "factor.h"\n')
    (tmp_path / "lib/util/factor.h").write_text("#define FACTOR 2\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/more.cpp").write_text("int plus() { return N + 1; }\n")
    (tmp_path / "src/main.cu").write_text(PROGRAM)
    return tmp_path / "src/main.cu"


def grade(*words: str | Path) -> int:
    """The exit code of `grade` with these words."""
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(word) for word in words])
    return int(str(stopped.value.code))


@needs_host
def test_all_files_of_a_program_see_them(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["-DN=21", "-D", "WITH_MAIN", "-D", 'TEXT="a b"', "-I", program.parents[1] / "lib"]
    assert grade("run", *given, program, program.with_name("more.cpp")) == 0
    assert "42 22 a b" in capsys.readouterr().out


@pytest.mark.parametrize("compiler", ["nvrtc", "clang"])
def test_a_single_kernel_sees_them(program: Path, compiler: str) -> None:
    from grader.languages import cuda_c

    if reason := cuda_c.missing(compiler):
        pytest.skip(reason)
    given = ["--grid", "1", "--block", "1", "--arg", "out:i32[1]=0", "--compiler", compiler]
    folder = program.parents[1] / "lib"
    assert grade("run", "-DN=21", "-I", folder, program, *given) == 0
    assert grade("run", "-DN=", "-I", folder, program, *given) == 1


def test_what_no_compiler_takes_is_an_error_of_the_command(program: Path) -> None:
    assert definitions(["A", "_b1=", "F(x)=x", "T=a b"]) == ("A", "_b1=", "F(x)=x", "T=a b")
    for word in ("", "9", "A B", "=4", "A\n=3", "A=1\n#define B"):
        with pytest.raises(UsageError, match="expected -D NAME"):
            definitions([word])
    with pytest.raises(UsageError, match=r"expected a folder after -I, found .*nowhere"):
        headers_beside(program, folders=[program.parent / "nowhere"])
    (program.parent / "script.py").write_text("print(1)\n")
    assert grade("run", "-DN=1", program.parent / "script.py") == 2


def test_a_header_is_looked_for_beside_the_program_first(program: Path) -> None:
    library = program.parents[1] / "lib"
    (program.parent / "util").mkdir()
    (program.parent / "util/sizes.h").write_text("// nearer\n")
    assert headers_beside(program, folders=[library])["util/sizes.h"] == "// nearer\n"
    (program.parent / "util/sizes.h").unlink()
    found = headers_beside(program, folders=[library])
    assert found["util/factor.h"] == "#define FACTOR 2\n"
