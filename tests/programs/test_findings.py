"""What is kept of a program that finds more to be wrong with than there is room for."""

from __future__ import annotations

from grader.programs.device_memory import DeviceMemory, Site
from grader.programs.findings import MOST, MOST_CHARACTERS, Findings
from tests.programs.running import needs_host, outcome


def many(findings: Findings, severity: str, count: int) -> None:
    for line in range(count):
        findings.add("bad_launch", Site("a.cu", line), "x", severity=severity)


def test_an_error_takes_the_place_of_a_note() -> None:
    """Attack: harmless findings in five hundred lines, so that an error behind them is not seen."""
    findings = Findings({})
    many(findings, "note", MOST + 100)
    findings.add("leak", Site("a.cu", 7), "lost")
    findings.add("leak", Site("a.cu", 8), "x" * 10 * MOST_CHARACTERS)
    found = findings.as_json()
    assert len(found) == MOST
    assert [f["kind"] for f in found[:2]] == ["leak", "leak"]
    assert max(len(f["message"]) for f in found) == MOST_CHARACTERS


def test_refused_launches_there_was_no_room_for_are_no_error_of_ours() -> None:
    findings = Findings({})
    many(findings, "error", MOST)
    for line in range(MOST + 5):
        findings.launch_refused(Site("b.cu", line), "no", 9, "")
    findings.at_end(DeviceMemory({}), clean=False)
    assert {f["file"] for f in findings.as_json()} == {"a.cu"}


def test_a_launch_refused_a_thousand_times_is_told_of_once() -> None:
    findings = Findings({})
    for _ in range(1000):
        findings.launch_refused(Site("a.cu", 3), "no", 9, "")
    findings.at_end(DeviceMemory({}), clean=False)
    (found,) = findings.as_json()
    assert found["count"] == 1000
    assert found["message"].count("never asked") == 1


BY_STRUCTURE = """
struct Arrays { float *from, *to; };
__global__ void twice(Arrays a) { a.to[threadIdx.x] = 2 * a.from[threadIdx.x]; }
int main() {
  Arrays a;
  cudaMalloc(&a.from, 32 * sizeof(float));
  cudaMalloc(&a.to, 32 * sizeof(float));
  cudaMemset(a.from, 0, 32 * sizeof(float));
  twice<<<1, 32>>>(a);
  cudaFree(a.from);
  cudaFree(a.to);
}
"""


@needs_host
def test_what_a_structure_points_to_is_an_output_too() -> None:
    """Its pointers are no parameters; the work of such a kernel was taken for the host's."""
    launches = [call for call in outcome(BY_STRUCTURE).answer.trace if call.api == "<<<>>>"]
    assert [call.outputs for call in launches] == [("a.to",)]
