"""HTML reports as a person's browser shows them: no error, no sideways scroll, accessible."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("make", [results.race, results.out_of_bounds, results.hostile])
def test_what_was_found_is_read_without_scrolling_sideways(
    opened: Opened, tmp_path: Path, make: Callable[[], Result], width: int
) -> None:
    """Messages beneath a line wrap to the screen, however long the lines of the source are."""
    result = make()
    long = f"// {'a long line of comment ' * 12}"
    files = tuple(f.model_copy(update={"text": f"{f.text}{long}\n"}) for f in result.files)
    file = written(tmp_path, result.model_copy(update={"files": files}))
    page = opened(file, viewport={"width": width, "height": 800})
    inside = """boxes => boxes.every(box => {
        const at = box.getBoundingClientRect();
        return at.width > 200 && at.left >= 0 && at.right <= innerWidth;
    })"""
    for what in (".said", "table.ends td.wide:not(:empty)"):
        assert page.locator(what).count() and page.locator(what).evaluate_all(inside), what


def test_prints_dark_on_white_within_the_page(opened: Opened, tmp_path: Path) -> None:
    """Who reads in the dark prints on white paper all the same, and nothing is cut off."""
    paper = {"width": 740, "height": 1000}
    page = opened(written(tmp_path, results.race()), viewport=paper, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    for what in ("body", "pre.excerpt", ".next"):
        style = page.locator(what).first.evaluate("e => getComputedStyle(e).backgroundColor")
        assert min(map(int, re.findall(r"\d+", style)[:3])) > 200, (what, style)
    assert page.evaluate("document.documentElement.scrollWidth") <= paper["width"]
    wide = page.locator("table").evaluate_all("all => all.map(t => t.scrollWidth)")
    assert max(wide) <= paper["width"]
