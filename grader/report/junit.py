"""JUnit XML: a suite per submission, a test case per case.

A failure is the student's, an error the grader's, skipped what could not be graded here. The
format has no place for points: they are properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from grader.report.words import clean, what_happened
from grader.result import CaseResult, Result, Verdict
from grader.verdict import telling


def render(results: Sequence[tuple[str, Result]]) -> str:
    """One document for results with the name of each, such as a student's."""
    root = ET.Element("testsuites", name="grade")
    for name, result in results:
        root.append(_suite(name, result))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _suite(name: str, result: Result) -> ET.Element:
    # Without cases the result itself is the one test: it did not build, or nothing was found.
    alone = CaseResult(name="submission", device=result.device, verdict=result.verdict,
                       reason=result.reason)  # fmt: skip
    cases = result.cases or (alone,)
    kinds = [_kind(case.verdict) for case in cases]
    suite = ET.Element(
        "testsuite",
        name=legal(name),
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
        time=f"{result.seconds:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    score = result.score
    points = "none" if score.points is None else f"{score.points}/{score.out_of}"
    said = {"score": points, "verdict": result.verdict.value, "device": result.device}
    for key, value in said.items():
        ET.SubElement(properties, "property", name=key, value=value)
    for case in cases:
        suite.append(_case(result, case))
    return suite


def _case(result: Result, case: CaseResult) -> ET.Element:
    fault = next((f for f in case.faults if f.severity == "error"), None)
    where: dict[str, str] = {}
    if fault is not None and fault.file:
        where = {"file": legal(fault.file)} | ({"line": str(fault.line)} if fault.line else {})
    element = ET.Element(
        "testcase",
        classname=f"{result.assignment}.{result.language or 'submission'}",
        name=legal(case.name),
        time=f"{case.seconds:.3f}",
    )
    for key, value in where.items():
        element.set(key, value)
    kind = _kind(case.verdict)
    if kind:
        message = legal(what_happened(case) or case.reason or case.verdict.value)
        inner = ET.SubElement(element, kind, message=message)
        if kind != "skipped":
            inner.set("type", case.verdict.value)
        told = telling(result.verdict, result.cases)
        if told is not None and told.name == case.name and result.next_step:
            inner.text = legal(result.next_step)
    if case.printed:
        ET.SubElement(element, "system-out").text = legal(case.printed)
    return element


def _kind(verdict: Verdict) -> str:
    return {
        Verdict.ACCEPTED: "", Verdict.GRADER_ERROR: "error", Verdict.NOT_GRADABLE: "skipped",
    }.get(verdict, "failure")  # fmt: skip


def legal(text: str) -> str:
    """Text with the characters that XML 1.0 has no place for replaced."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if c in "\ufffe\uffff" or 0xD800 <= ord(c) < 0xE000 else c
        for c in clean(text)
    )
