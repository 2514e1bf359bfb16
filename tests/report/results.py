"""Results made by hand, one for every kind of page a report can be."""

from __future__ import annotations

from grader.result import (
    Baseline,
    Build,
    CaseResult,
    Diagnostic,
    Fault,
    Hardware,
    LineMetrics,
    Measured,
    Metrics,
    Mismatch,
    NoteClaim,
    NoteEntry,
    Notes,
    OutputMap,
    Place,
    ReferenceRun,
    Result,
    Score,
    ScoreLine,
    Severity,
    SourceFile,
    Timing,
    Verdict,
)

SOURCE = """\
#define BLOCK 256

__global__ void vec_add(const float* A, const float* B, float* C, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}
"""

FILE = SourceFile(name="vec_add.cu", sha256="5e" * 32, language="cuda-c", text=SOURCE)

OUT_OF_BOUNDS = Fault(
    kind="out_of_bounds",
    severity=Severity.ERROR,
    access="read",
    space="global",
    buffer="A",
    index=1000,
    extent=1000,
    size_bytes=4,
    file="vec_add.cu",
    line=6,
    column=12,
    block=(3, 0, 0),
    thread=(232, 0, 0),
    count=24,
    lanes=tuple(range(992, 1024)),
    message="read of A[1000], but A has 1000 elements (block 3, thread 232; 24 such reads)",
    advice="Guard the access with if (i < N).",
)

WARNING = Fault(
    kind="race",
    severity=Severity.WARNING,
    access="write",
    space="shared",
    buffer="s",
    file="vec_add.cu",
    line=5,
    message="s[3] is written by thread 3 and read by thread 4 of one warp without __syncwarp()",
)

BUILD = Build(
    language="cuda-c",
    compiler="NVRTC",
    version="13.5.37",
    ok=True,
    options=("-arch=compute_80", "-lineinfo"),
    seconds=0.04,
)

WRONG_MAP = OutputMap(
    output="C",
    shape=(1000,),
    width=32,
    rows=32,
    columns=32,
    rows_per_cell=1,
    columns_per_cell=1,
    wrong=tuple(int(256 <= i < 1000) for i in range(1024)),
    unwritten=(0,) * 1024,
)

METRICS = Metrics(
    counts={"warp_instructions": 512.0, "flops": 1000.0, "dram_bytes": 12000.0},
    lines=(
        LineMetrics(
            file="vec_add.cu",
            line=6,
            counts={"global_sectors": 96.0, "global_sectors_ideal": 48.0},
        ),
    ),
)


def _score(**points: int) -> Score:
    out_of = {"build": 10, "correct": 40, "bounds": 20, "sync": 10, "speed": 10, "notes": 10}
    lines = tuple(
        ScoreLine(item=item, points=points[item], out_of=most, why=f"why {item} has these points")
        for item, most in out_of.items()
    )
    return Score(points=sum(points.values()), out_of=100, lines=lines)


def _result(verdict: Verdict, score: Score, **more: object) -> Result:
    values: dict[str, object] = {
        "assignment": "assignment3",
        "language": "cuda-c",
        "device": "virtual",
        "verdict": verdict,
        "reason": "",
        "score": score,
        "builds": (BUILD,),
        "submission_sha256": "ab" * 32,
        "files": (FILE,),
        "versions": {"grader": "0.1.0", "nvrtc": "13.5.37"},
        "created": "2026-11-30T12:00:00Z",
        "seconds": 1.25,
        **more,
    }
    return Result.model_validate(values)


def accepted() -> Result:
    timing = Timing(
        source="modelled",
        device="A100",
        nanoseconds=12345.0,
        bound="DRAM",
        ratio_to_reference=1.02,
        dram_bytes_per_second=1.555e12,
        flops_per_second=19.5e12,
    )
    theirs = ReferenceRun(
        verdict=Verdict.ACCEPTED,
        metrics=METRICS,
        timing=timing.model_copy(update={"nanoseconds": 12100.0, "ratio_to_reference": None}),
    )
    cases = tuple(
        CaseResult(
            name=name,
            device="virtual",
            verdict=Verdict.ACCEPTED,
            sizes={"N": n},
            metrics=METRICS,
            timing=timing,
            reference=theirs,
            seconds=0.1,
        )
        for name, n in (("empty", 0), ("one", 1), ("prime", 1009))
    )
    entry = NoteEntry(
        framework="numpy",
        verdict="partly",
        claims=(NoteClaim(claim="loop", verdict="right", reason="numpy 2 has it there"),),
    )
    score = _score(build=10, correct=40, bounds=20, sync=10, speed=10, notes=5)
    return _result(
        Verdict.ACCEPTED,
        score,
        reason="every case is accepted",
        cases=cases,
        notes=Notes(file="notes.toml", entries=(entry,)),
    )


def slow() -> Result:
    """Accepted, with points of speed lost to the memory traffic of one line."""
    line = METRICS.lines[0].model_copy(
        update={"counts": {"global_sectors": 512.0, "global_sectors_ideal": 128.0}}
    )
    base = accepted()
    cases = tuple(
        case.model_copy(update={"metrics": METRICS.model_copy(update={"lines": (line,)})})
        for case in base.cases
    )
    return base.model_copy(
        update={
            "cases": cases,
            "score": _score(build=10, correct=40, bounds=20, sync=10, speed=3, notes=10),
            "next_step": "The kernel is right. For the points of speed: global memory efficiency "
            "0.25 (neighbouring threads touch neighbouring elements)",
        }
    )


def measured() -> Result:
    """An accepted kernel that hardware measured: one time that counts, one that is not believed."""
    before = accepted()

    def there(case: CaseResult, **more: object) -> CaseResult:
        found = {
            "device": "cuda",
            "verdict": Verdict.ACCEPTED,
            "timing": Timing(
                source="measured", device="A Card", nanoseconds=5200.0, ratio_to_reference=1.04
            ),
            "relative_error": 0.004,
            "pairs": 24,
            "launches": 16,
            "copy_share": 0.88,
            **more,
        }
        frameworks = (
            Baseline(
                framework="torch", version="2.13.0", device="A Card", nanoseconds=5714.0,
                relative_error=0.003, timer="events", first_nanoseconds=2.1e6, ratio=0.91,
            ),
            Baseline(
                framework="mlx", version="0.32.4", device="A Card", nanoseconds=26000.0,
                first_nanoseconds=3.1e6, ratio=0.2,
            ),
            Baseline(
                framework="torch.compile", version="2.13.0",
                missing="InvalidCxxCompiler: No working C++ compiler found",
            ),
        )  # fmt: skip
        return case.model_copy(
            update={"measured": Measured.model_validate(found), "baselines": frameworks}
        )

    first, second, *rest = before.cases
    cheating = there(
        second,
        untrusted=("it was faster than the device can move its data",),
        remarks=("noisy: the standard error is still 1.2%",),
        copy_share=None,
    )
    card = Hardware(
        device="cuda", name="A Card", architecture="sm_90", driver="CUDA 13.0", multiprocessors=132,
        clock_hz=1.98e9, memory_bytes=139 << 30, l2_bytes=50 << 20, peak_bytes_per_second=4.8e12,
        copy_bytes_per_second=4.1e12,
    )  # fmt: skip
    cases = (there(first), cheating, *rest)
    return before.model_copy(update={"cases": cases, "hardware": card})


def out_of_bounds() -> Result:
    good = CaseResult(name="full", device="virtual", verdict=Verdict.ACCEPTED, sizes={"N": 1024})
    bad = CaseResult(
        name="tail",
        device="virtual",
        verdict=Verdict.OUT_OF_BOUNDS,
        sizes={"N": 1000},
        faults=(OUT_OF_BOUNDS, WARNING),
        metrics=METRICS,
        printed="::error::not a command\n",
    )
    return _result(
        Verdict.OUT_OF_BOUNDS,
        _score(build=10, correct=20, bounds=0, sync=10, speed=0, notes=0),
        cases=(good, bad, bad.model_copy(update={"name": "prime"})),
        reason="an access outside a buffer",
        next_step="Guard the access with if (i < N).",
    )


def race() -> Result:
    """Two lines of a block without a barrier between."""
    fault = Fault(
        kind="race",
        severity=Severity.ERROR,
        access="read",
        space="shared",
        buffer="s",
        index=32,
        extent=256,
        file="vec_add.cu",
        line=6,
        column=12,
        block=(0, 0, 0),
        thread=(31, 0, 0),
        other=Place(access="write", line=5, block=(0, 0, 0), thread=(32, 0, 0)),
        count=7,
        message="race on s[32]: read here, write by block 0, thread 32 at line 5, with no barrier "
        "between (read-after-write hazard) (block 0, thread 31; 7 such reads)",
    )
    case = CaseResult(
        name="tail",
        device="virtual",
        verdict=Verdict.RACE,
        sizes={"N": 1000},
        faults=(fault,),
        reason="with the warps in reverse order the result is another one",
    )
    return _result(
        Verdict.RACE,
        _score(build=10, correct=40, bounds=20, sync=0, speed=0, notes=0),
        cases=(case,),
        reason="case tail: race on s",
        next_step="Put __syncthreads() between what lines 5 and 6 do to s.",
    )


def build_failed() -> Result:
    error = Diagnostic(
        file="vec_add.cu",
        line=6,
        column=5,
        severity="error",
        message='identifier "c" is undefined',
    )
    build = BUILD.model_copy(
        update={
            "ok": False,
            "diagnostics": (error,),
            "log": 'vec_add.cu(6): error: identifier "c" is undefined\n    C[i] = A[i] + c[i];\n',
        }
    )
    return _result(
        Verdict.BUILD_FAILED,
        _score(build=0, correct=0, bounds=0, sync=0, speed=0, notes=0),
        builds=(build,),
        reason="NVRTC found an error",
        next_step="Mend the first error; later ones often follow from it.",
    )


def wrong_answer() -> Result:
    mismatch = Mismatch(
        output="C",
        index=(256,),
        expected=0.5,
        actual=0.0,
        wrong=744,
        total=1000,
        pattern="only_first_block",
        message="C[256] should be 0.5, found 0; 744 of 1,000 elements are wrong",
    )
    bad = CaseResult(
        name="tail",
        device="virtual",
        verdict=Verdict.WRONG_ANSWER,
        sizes={"N": 1000},
        mismatch=mismatch,
        maps=(WRONG_MAP,),
    )
    return _result(
        Verdict.WRONG_ANSWER,
        _score(build=10, correct=0, bounds=20, sync=10, speed=0, notes=0),
        cases=(bad,),
        reason="a wrong number",
        next_step="Only the first block is right: use blockIdx.x * blockDim.x + threadIdx.x.",
    )


def refused() -> Result:
    return _result(
        Verdict.REFUSED,
        _score(build=0, correct=0, bounds=0, sync=0, speed=0, notes=0),
        language=None,
        builds=(),
        files=(),
        reason="expected a kernel file (vec_add.cu, vec_add.metal or vec_add.py); found none",
        next_step="Put vec_add.cu into the folder and submit again.",
    )


def grader_error() -> Result:
    return _result(
        Verdict.GRADER_ERROR,
        Score(points=None, out_of=100),
        reason="The grader failed; this is not about your kernel. The run child died (signal 11).",
        next_step="Tell your instructor; your earlier grade stands.",
    )


def hostile() -> Result:
    """Text of a student that tries to be markup, a command or a terminal sequence."""
    text = "// <script>alert(1)</script> \x1b[2J ```\n| `x` | {{ 7 * 7 }} [red]\n"
    fault = OUT_OF_BOUNDS.model_copy(
        update={"line": 1, "message": "<img src=x onerror=alert(1)> | `a` **b** \x1b[31m"}
    )
    case = CaseResult(name="tail", device="virtual", verdict=Verdict.OUT_OF_BOUNDS, faults=(fault,))
    return _result(
        Verdict.OUT_OF_BOUNDS,
        _score(build=10, correct=0, bounds=0, sync=0, speed=0, notes=0),
        files=(FILE.model_copy(update={"text": text}),),
        cases=(case,),
        next_step="<b>bold</b>",
    )


ALL = (
    accepted,
    slow,
    out_of_bounds,
    race,
    build_failed,
    wrong_answer,
    refused,
    grader_error,
    hostile,
    measured,
)
