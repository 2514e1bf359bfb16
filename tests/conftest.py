"""What every folder of tests shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# A property is about what is true, not how fast a shared machine finds out.
settings.register_profile("grade", deadline=None)
settings.load_profile("grade")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="rewrite the golden files with what comes out now"
    )
    parser.addoption(
        "--device",
        choices=("virtual", "cuda", "metal"),
        help="run tests/devices on this device alone; it must be there",
    )
