"""The next step: what each kind of mistake is told, from its fault and its source."""

from __future__ import annotations

import pytest

from grader import advice
from grader.result import (
    CaseResult,
    Diagnostic,
    Fault,
    LineMetrics,
    Metrics,
    Mismatch,
    Place,
    Severity,
    Verdict,
)


def out_of_bounds(line: int, index: int, extent: int = 1000, buffer: str = "A") -> Fault:
    return Fault(kind="out_of_bounds", severity=Severity.ERROR, access="read", space="global",
                 buffer=buffer, index=index, extent=extent, line=line, file="k.cu",
                 message="read")  # fmt: skip


def race(line: int, other: int, *, access: str = "write", other_access: str = "read",
         space: str = "shared", given: str | None = None) -> Fault:  # fmt: skip
    return Fault.model_validate({
        "kind": "race", "severity": "error", "access": access, "space": space, "buffer": "s",
        "line": line, "message": "race on s", "advice": given,
        "other": Place.model_validate({"access": other_access, "line": other}),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("source", "fault", "words"),
    [
        ("int i = f();\nC[i] = A[i];", out_of_bounds(2, 1000), ["No condition", "if (i < N)"]),
        ("if (i <= N)\nC[i] = A[i];", out_of_bounds(2, 1000), ["line 1", "use < instead of <="]),
        ("if (t < N) {\nC[i] = A[i];", out_of_bounds(2, 1024),
         ["`if (t < N)`", "compare `i` with the number of elements of A"]),
        ("if (i < N)\nC[i] = A[i - 1];", out_of_bounds(2, -1), ["negative here (-1)"]),
        ("if (i < N)\nC[i] = A[r * w];", out_of_bounds(2, -2_147_000_000),
         ["-2,147,000,000", "did not fit in 32 bits", "size_t"]),
        ("if (i > N) return;\nC[i] = A[i];", out_of_bounds(2, 1000), ["with >= instead of >"]),
        ("// if (i < N)\nC[i] = A[i];", out_of_bounds(2, 1000), ["No condition guards"]),
        ("int r = f(), c = g();\nif (r >= h || c >= w) return;\nA[r * pitch + c] = 1;",
         out_of_bounds(3, 1020), ["every part of the index `r * pitch + c`", "row of A"]),
        ("int r = f(), c = g();\nx = r < h && c < w ? A[r * h + c] : 0;", out_of_bounds(2, 1020),
         ["The condition on line 2", "every part of the index `r * h + c`"]),
        ("int r = f(), c = g();\nif (r < h) A[r * w + c] = 1;", out_of_bounds(2, 1020),
         ["does not stop this access", "`r * w + c`"]),
    ],
)  # fmt: skip
def test_an_access_outside(source: str, fault: Fault, words: list[str]) -> None:
    said = advice.of_fault(fault, source, "cuda-c")
    for word in words:
        assert word in said


def test_an_access_outside_in_triton_is_about_the_mask() -> None:
    assert "`mask=`" in advice.of_fault(out_of_bounds(1, 9), "x = tl.load(p)", "triton")


@pytest.mark.parametrize(
    ("source", "fault", "words"),
    [
        ("s[t] = x;\ny = s[t + 1];", race(1, 2), "__syncthreads(), which all threads must reach"),
        ("s[t] += s[t + h];", race(1, 1), "at the end of every round"),
        ("s[t] += s[t + h];\n__syncthreads();", race(1, 1), "in the same round"),
        ("s[t] = x;\n__syncthreads();\ny += s[k];", race(1, 3), "after line 3"),
        ("for (k = i; k < n; k += 9) y[k] = y[k] * a;", race(1, 1, space="global"), "one owner"),
        ("p[b] = x;\nif (atomicAdd(c, 1) == last)\n  t += p[k];", race(1, 3, space="global"),
         "__threadfence() between"),
        ("s[0] += x;", race(1, 1), "atomic operation"),
        ("h[x[i]] += 1;", race(1, 1, space="global"), "atomic operation"),
        ("*total += x;", race(1, 1, space="global"), "atomic operation"),
        ("y[i] = a * y[i];", race(1, 1, space="global"), "one owner"),
        ("s[t] = x;", race(1, 1, other_access="write", space="global"), "one owner"),
        ("s[i] = x;\ny = s[j];", race(1, 2, space="global"), "a second launch"),
    ],
)  # fmt: skip
def test_a_race(source: str, fault: Fault, words: str) -> None:
    assert words in advice.of_fault(fault, source, "cuda-c")


def test_a_race_in_metal_names_metals_barrier() -> None:
    said = advice.of_fault(race(1, 1), "s[t] += s[t + h];", "metal")
    assert "threadgroup_barrier(mem_flags::mem_threadgroup)" in said
    assert advice.of_fault(race(1, 2, given="as Metal says"), "a\nb", "metal") == "as Metal says"


def test_a_loop_that_does_not_end_is_named() -> None:
    source = "void k() {\n    while (i < N) {\n        C[i] = 1;\n        i += step;\n    }\n}\n"
    lines = (
        LineMetrics(file="k.cu", line=3, counts={"warp_instructions": 90.0}),
        LineMetrics(file="k.cu", line=4, counts={"warp_instructions": 30.0}),
    )
    case = CaseResult(name="one", device="virtual", verdict=Verdict.TIMED_OUT,
                      metrics=Metrics(lines=lines))  # fmt: skip
    said = advice.next_step(Verdict.TIMED_OUT, (case,), source=source)
    assert said.startswith("The loop on line 2 does not end")
    bare = case.model_copy(update={"metrics": None})
    assert "no thread does" in advice.next_step(Verdict.TIMED_OUT, (bare,), source=source)
    said = advice.next_step(Verdict.TIMED_OUT, (case,), source=source, language="triton")
    assert "a wait for another program?" in said


@pytest.mark.parametrize("kind", ["unwritten", "uninitialised"])
def test_triton_is_told_of_programs_and_lanes(kind: str) -> None:
    fault = Fault(kind=kind, severity=Severity.ERROR, message="C[1] was never written")
    assert "program" in advice.of_fault(fault, "", "triton")
    assert "thread" not in advice.of_fault(fault, "", "triton")
    assert "thread" in advice.of_fault(fault, "", "cuda-c")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("for (int i = 0; i < N; i++) C[i] = 1;", "line 1 takes far more rounds"),
        ("for (int i = 0; i < N; i += 4)\n    C[i] = 1;", "line 1 takes far more rounds"),
        ("for i in range(n):\n    c += 1", "line 1 takes far more rounds"),
        ("for (i = t; i < N; i += hop)\n    C[i] = 1;", "is its step 0 for some thread"),
        ("for (i = t; i < N;)\n    C[i] = 1;", "line 1 does not end: nothing"),
        ("while (i < N) {\n    for (int k = 0; k < 4; ++k)\n        C[i] = 1;\n}",
         "line 1 does not end: nothing"),
        ("for (i = 0; i < N; i += i) {\n    for (int k = 0; k < 4; ++k)\n        C[i] = 1;\n}",
         "line 1 does not end, or"),
    ],
)  # fmt: skip
def test_a_loop_that_counts_is_not_called_endless(source: str, words: str) -> None:
    busy = LineMetrics(file="k.cu", line=min(3, len(source.splitlines())),
                       counts={"warp_instructions": 9.0})  # fmt: skip
    case = CaseResult(name="one", device="virtual", verdict=Verdict.TIMED_OUT,
                      metrics=Metrics(lines=(busy,)))  # fmt: skip
    assert words in advice.next_step(Verdict.TIMED_OUT, (case,), source=source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("if (i < N) C[i] += A[i];", "store with = the first time"),
        ("if (C[i] == 0) A[i] += 1;", "Give the memory a value"),
    ],
)
def test_a_sum_into_garbage(source: str, words: str) -> None:
    fault = Fault(kind="uninitialised", severity=Severity.ERROR, access="read", space="global",
                  buffer="C", index=0, extent=9, line=1, file="k.cu", message="read")  # fmt: skip
    assert words in advice.of_fault(fault, source, "cuda-c")


def wrong(pattern: str | None, given: str | None = None) -> CaseResult:
    mismatch = Mismatch(output="C", index=(3,), expected=1, actual=2, wrong=9, total=10,
                        pattern=pattern, message="C[3] should be 1", advice=given)  # fmt: skip
    return CaseResult(name="tail", device="virtual", verdict=Verdict.WRONG_ANSWER,
                      sizes={"N": 10}, mismatch=mismatch)  # fmt: skip


def test_a_wrong_number() -> None:
    def said(case: CaseResult) -> str:
        return advice.next_step(Verdict.WRONG_ANSWER, (case,), language="triton")

    assert "Work out C[3] by hand with N = 10" in said(wrong(None))
    assert "rows and columns" not in said(wrong("rows and columns are swapped"))
    assert said(wrong("rows and columns are swapped")).startswith("Swap the two indices")
    # What the numbers show says more than a parameter that is not used, less than other causes.
    unused = "`partial` is never used in k."
    assert said(wrong(None, unused)) == unused
    assert said(wrong("off by one: each", unused)).startswith("The index that is read")
    assert said(wrong("off by one: each", "the cause")) == "the cause"


def test_the_reason_is_that_of_the_finding_that_leads() -> None:
    empty = CaseResult(name="empty", device="virtual", verdict=Verdict.OUT_OF_BOUNDS,
                       faults=(out_of_bounds(7, 0, 0),))  # fmt: skip
    full = CaseResult(name="tail", device="virtual", verdict=Verdict.OUT_OF_BOUNDS,
                      faults=(out_of_bounds(7, 1000),))  # fmt: skip
    assert advice.reason(Verdict.OUT_OF_BOUNDS, (empty, full)) == "case tail: line 7: read"
    racing = CaseResult(name="a", device="virtual", verdict=Verdict.RACE, faults=(race(3, 4),),
                        reason="in reverse order the result is another one")  # fmt: skip
    assert advice.reason(Verdict.RACE, (racing,)) == (
        "case a: line 3: race on s; in reverse order the result is another one"
    )
    assert advice.reason(Verdict.WRONG_ANSWER, (wrong(None),)) == "case tail: C[3] should be 1"
    assert "verdict and the points only" in advice.reason(Verdict.RACE, ())


def test_a_build_that_failed_names_its_first_error() -> None:
    errors = tuple(
        Diagnostic(file="k.cu", line=line, severity="error", message=f"error {line}\nmore")
        for line in (4, 9, 12)
    )
    assert advice.of_build(errors, "nvrtc") == "k.cu:4: error 4 (and 2 more errors)"
    assert advice.of_build(errors[:1], "nvrtc") == "k.cu:4: error 4"
    assert advice.of_build((), "nvrtc") == "nvrtc: no error was named"


def test_a_missing_semicolon_is_looked_for_on_the_line_above() -> None:
    def said(message: str, line: int = 3) -> str:
        error = Diagnostic(file="k.cu", line=line, severity="error", message=message)
        return advice.next_step(Verdict.BUILD_FAILED, (), (error,)) or ""

    assert "the line above, k.cu:2," in said('expected a ";"')
    assert "the line above" not in said('expected a ";"', line=1)
    assert "the line above" not in said('identifier "foo" is undefined')


def test_other_parameters_than_the_contracts_are_copied_and_not_mended_one_by_one() -> None:
    for message in ("expected const float* for parameter 1 of k (A), found const double*",
                    "expected 3 parameters (float*, float*, int) for k, found 2"):  # fmt: skip
        errors = (Diagnostic(file="k.cu", line=1, severity="error", message=message),) * 2
        assert "from the starter" in advice.next_step(Verdict.BUILD_FAILED, (), errors)


def test_a_file_that_nobody_worked_on_is_told_so() -> None:
    mentions = ("kernel.cu is still as the starter has it",)
    starter = advice.still_starter("kernel.cu", mentions)
    said = advice.next_step(Verdict.WRONG_ANSWER, (wrong(None),), starter=starter)
    assert said.startswith("kernel.cu is still the starter: write the kernel")
    other = "kernel.py was not graded: still as the starter has it"
    assert advice.still_starter("kernel.cu", (other,)) == ""
    assert advice.next_step(Verdict.ACCEPTED, (), starter=starter) == ""


def test_a_case_without_elements_says_that_a_block_runs_all_the_same() -> None:
    fault = Fault(kind="out_of_bounds", severity=Severity.ERROR, buffer="x", index=0, extent=0,
                  line=2, file="k.cu", message="read of x[0]")  # fmt: skip
    source = "int i = threadIdx.x;\ny[i] = x[i];\n"
    said = advice.of_fault(fault, source, "cuda-c")
    assert said.startswith("This case has no elements, and a block is started all the same. No")
    assert "no elements" not in advice.of_fault(
        fault.model_copy(update={"extent": 9, "index": 9}), source, "cuda-c"
    )


def test_what_is_shown_comes_before_what_is_hidden() -> None:
    hidden = CaseResult(name="secret", device="virtual", verdict=Verdict.RACE, hidden=True,
                        faults=(race(1, 1, space="global"),))  # fmt: skip
    shown = wrong("only the tail from 8 on")
    said = advice.next_step(Verdict.RACE, (shown, hidden), source="y[i] = a * y[i];")
    assert said.startswith(f"Begin with what is shown ({shown.name}): ") and "from 8 on" in said
    alone = advice.next_step(Verdict.RACE, (hidden,), source="y[i] = a * y[i];")
    assert "one owner" in alone


def test_shared_memory_that_threads_left_empty_names_their_return() -> None:
    empty = Fault(kind="uninitialised", severity=Severity.ERROR, space="shared", buffer="s", line=9,
                  message="read of s[9]")  # fmt: skip
    early = Fault(kind="bad_barrier", severity=Severity.WARNING, line=4,
                  message="some threads returned before this barrier")  # fmt: skip
    case = CaseResult(name="a", device="virtual", verdict=Verdict.UNINITIALISED,
                      faults=(empty, early))  # fmt: skip
    said = advice.next_step(Verdict.UNINITIALISED, (case,))
    assert said.startswith("Some threads returned before the barrier on line 4")
    alone = case.model_copy(update={"faults": (empty,)})
    assert "returned" not in advice.next_step(Verdict.UNINITIALISED, (alone,))
