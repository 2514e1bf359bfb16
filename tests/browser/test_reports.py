"""HTML reports as a person's browser shows them: no error, no sideways scroll, accessible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.report import html
from grader.result import Result
from tests.browser.conftest import Opened, looks_right
from tests.report import results


def written(folder: Path, result: Result) -> Path:
    file = folder / "report.html"
    file.write_text(html.render(result), encoding="utf-8")
    return file


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_report(opened: Opened, tmp_path: Path, make: Callable[[], Result]) -> None:
    looks_right(opened(written(tmp_path, make())), make.__name__)


def test_details_open_by_keyboard(opened: Opened, tmp_path: Path) -> None:
    page = opened(written(tmp_path, results.out_of_bounds()))
    summary = page.locator("details.about summary")
    assert not page.locator("details.about ul").first.is_visible()
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details.about ul").first.is_visible()


def test_prints_every_line_of_the_source(opened: Opened, tmp_path: Path) -> None:
    page = opened(written(tmp_path, results.out_of_bounds()))
    page.emulate_media(media="print")
    assert page.locator("details.about ul").first.is_visible()
    assert page.locator("td.text").count() == len(results.SOURCE.splitlines())
