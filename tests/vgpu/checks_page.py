"""Read docs/checks.md: its examples, and what the virtual GPU says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader import arguments
from grader.languages.nvrtc import compile_source, install_headers
from grader.vgpu import Fault, Memory, Module, launch

PAGE = Path(__file__).parents[2] / "docs" / "checks.md"
_SECTION = re.compile(
    r"^## (?P<title>.+?)\n\n`(?P<kind>\w+)`, (?P<severity>\w+)\..*?"
    r"```cuda\n(?P<code>.*?)\n```\n\n```text\n(?P<message>.*?)\n```",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Example:
    """One section: a kernel of at most ten lines and the message it must get."""

    title: str
    kind: str
    severity: str
    code: str
    message: str


def examples() -> list[Example]:
    """All sections of the page, in order."""
    return [Example(**found.groupdict()) for found in _SECTION.finditer(PAGE.read_text())]


def run(example: Example) -> list[Fault]:
    """Faults of the example under both builds."""
    options = dict(re.findall(r"--(grid|block) (\d+)", example.code))
    given = [arguments.parse(spec) for spec in re.findall(r"--arg (\S+)", example.code)]
    folder = install_headers() if "#include" in example.code else None
    include = [f"-I{folder}"] if folder else []
    faults: list[Fault] = []
    for build in ("-G", "-lineinfo"):  # as in a result, exact lines and names come first
        compiled = compile_source(
            example.code, "k.cu", ["-arch=compute_80", "-std=c++17", build, *include]
        )
        assert compiled.ok, compiled.log
        module = Module.from_ptx(compiled.ptx)
        memory = Memory()
        passed = []
        for each in given:
            if each.content == "scalar":
                passed.append(arguments.scalar(each))
                continue
            made = arguments.array(each, seed=1)
            defined = made is not None
            data = made if made is not None else np.zeros(each.count, each.dtype)
            passed.append(memory.allocate(data, name=each.name or "a", defined=defined))
        done = launch(
            module.kernel(module.kernels[0]),
            int(options["grid"]),
            int(options["block"]),
            passed,
            memory=memory,
        )
        faults += done.faults
    return faults


def message(example: Example) -> str:
    """The first finding of the example's kind and severity: line and message."""
    for fault in run(example):
        if (fault.kind, fault.severity) == (example.kind, example.severity):
            return f"line {fault.line}: {fault.message}"
    raise AssertionError(f"{example.title}: no {example.kind} among {run(example)}")
