"""HTML reports as a person's browser shows them: no error, no sideways scroll, accessible.

Needs Chromium (Debian's package; $CHROMIUM names another) and the extra `browser`. Screenshots are
left in build/screenshots.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.report import html
from grader.result import Result
from tests.conftest import ROOT
from tests.report import results

playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs the extra `browser`: pip install 'grader[browser]'"
)
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="needs the extra `browser`"
)

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
SCREENSHOTS = ROOT / "build" / "screenshots"
QUIET = (
    "--no-sandbox",  # CI runs as root, where Chromium's own sandbox does not start
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        started.close()


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_report(browser: Any, tmp_path: Path, make: Callable[[], Result]) -> None:
    file = tmp_path / "report.html"
    file.write_text(html.render(make()), encoding="utf-8")
    page = browser.new_context(offline=True).new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url))
    page.goto(file.as_uri())
    assert said == [file.as_uri()], "the page logged something or asked for another file"
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            name = f"{make.__name__}-{scheme}-{width}.png"
            page.screenshot(path=SCREENSHOTS / name, full_page=True)
            beyond = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert beyond <= 0, f"{beyond} pixels stick out to the right, {width} wide"
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    page.context.close()


def test_details_open_by_keyboard(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(html.render(results.out_of_bounds()), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    summary = page.locator("details.about summary")
    assert not page.locator("details.about ul").first.is_visible()
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details.about ul").first.is_visible()
    page.close()


def test_prints_every_line_of_the_source(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(html.render(results.out_of_bounds()), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    assert page.locator("details.about ul").first.is_visible()
    assert page.locator("td.text").count() == len(results.SOURCE.splitlines())
    page.close()
