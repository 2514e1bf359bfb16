"""The examples of docs/vgpu.md run as they stand, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import grader.vgpu

PAGE = Path(__file__).parents[2] / "docs" / "vgpu.md"


def test_the_examples_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    space: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), space)


def test_the_page_names_what_there_is() -> None:
    text = PAGE.read_text()
    for name in set(grader.vgpu.__all__) - {"Fault", "Kernel", "Metrics", "Place"}:
        assert f"`{name}" in text or f"{name}(" in text, name
