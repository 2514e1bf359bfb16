"""Sources and contracts that several tests share."""

from __future__ import annotations

from grader.languages import Artefact, Contract, Parameter, cuda_clang, cuda_nvrtc
from grader.languages.cuda_c import CLANG_HEADERS
from grader.languages.cuda_compile import compile_submission
from grader.languages.nvrtc import install_headers
from grader.result import Build

VEC_ADD = Contract(
    kernel="vec_add",
    parameters=(
        Parameter(name="A", type="const float*"),
        Parameter(name="B", type="const float*"),
        Parameter(name="C", type="float*"),
        Parameter(name="N", type="int"),
    ),
    constants={"BLOCK": 256},
)

KERNEL = """__global__ void vec_add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
"""


def compiled(
    text: str,
    *contracts: Contract,
    headers: dict[str, str] | None = None,
    kernels: tuple[str, ...] = (),
    compiler: str = "nvrtc",
    any_kernel: bool = False,
) -> tuple[tuple[Build, ...], Artefact | None]:
    """The builds of `text` under the name vec_add.cu, compiled in this process.

    The contract is that of vec_add where none is given; with `any_kernel` there is none.
    """
    return compile_submission(
        text,
        "vec_add.cu",
        () if any_kernel else contracts or (VEC_ADD,),
        submission_headers=headers or {},
        toolkit=str(install_headers() if compiler == "nvrtc" else CLANG_HEADERS),
        kernels=kernels,
        compiler=cuda_nvrtc if compiler == "nvrtc" else cuda_clang,
    )


def accepted(text: str, *contracts: Contract, **more: object) -> Artefact:
    """The artefact of a source that must compile."""
    builds, artefact = compiled(text, *contracts, **more)  # type: ignore[arg-type]
    assert artefact is not None, builds[0].diagnostics
    return artefact


def errors(text: str, *contracts: Contract, **more: object) -> list[str]:
    """`line:column: message` of each error of a source that must not compile."""
    builds, artefact = compiled(text, *contracts, **more)  # type: ignore[arg-type]
    assert artefact is None
    assert [build.ok for build in builds] == [False]
    assert {d.file for d in builds[0].diagnostics} == {"vec_add.cu"}
    return [
        f"{d.line or ''}:{d.column or ''}: {d.message}"
        for d in builds[0].diagnostics
        if d.severity == "error"
    ]
