"""Reports of hand-made results, compared with the files beside this one.

`make golden` accepts what comes out now; read the difference before committing it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from grader.report import json, markdown, terminal
from grader.result import Result
from tests.report import results

FOLDER = Path(__file__).parent / "reports"


def _terminal(result: Result, **options: bool) -> str:
    out = Console(file=io.StringIO(), width=80, highlight=False, markup=False, emoji=False)
    terminal.show(result, out, folder=Path(".grade/assignment3"), **options)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


FORMATS: dict[str, Callable[[Result], str]] = {
    "txt": _terminal,
    "verbose.txt": lambda result: _terminal(result, verbose=True),
    "quiet.txt": lambda result: _terminal(result, quiet=True),
    "md": markdown.render,
    "json": json.dumps,
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_report_is_the_golden_one(
    make: Callable[[], Result], form: str, request: pytest.FixtureRequest
) -> None:
    path = FOLDER / f"{make.__name__}.{form}"
    text = FORMATS[form](make())
    if request.config.getoption("--accept"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no {path.name}: `make golden` writes it"
    assert text == path.read_text(encoding="utf-8")
