"""A headless Chromium for the tests of pages, and a page that must not say or ask for anything.

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

from tests.conftest import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
QUIET = (
    "--no-sandbox",  # CI runs as root, where Chromium's own sandbox does not start
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs the extra `browser`: pip install 'grader[browser]'"
    )
    with playwright.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        started.close()


Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    """Opens a file as a page without a network; at the end it must have logged nothing."""
    contexts: list[Any] = []
    said: list[str] = []

    def open_(file: Path, **options: Any) -> Any:
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        page.goto(file.as_uri())
        assert said == [file.as_uri()], "the page logged something or asked for another file"
        said.clear()
        return page

    yield open_
    for context in contexts:
        context.close()
    assert said == [], "the page logged something"


def looks_right(page: Any, name: str) -> None:
    """Both themes and two widths: nothing sticks out to the right, and axe finds nothing."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs the extra `browser`"
    )
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        fits(page, f"{name}-{scheme}")
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def fits(page: Any, name: str, *, full: bool = True) -> None:
    """A phone's width and a desk's: nothing sticks out to the right; both leave a screenshot."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=SCREENSHOTS / f"{name}-{width}.png", full_page=full)
        beyond = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert beyond <= 0, f"{beyond} pixels stick out to the right, {width} wide"
