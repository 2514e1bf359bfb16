"""The shipped notes: the starter says what is missing, the reference gets every point."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from grader import notes
from grader.notes import form

ROOT = Path(__file__).parents[3]
STARTER = ROOT / "student_template" / "assignment3" / "notes.toml"


def test_the_reference_note_gets_full_points() -> None:
    found = notes.check(ROOT / "reference" / "assignment3")
    assert found.problems == ()
    assert [entry.verdict for entry in found.entries] == ["right", "right"]
    assert {claim.verdict for entry in found.entries for claim in entry.claims} == {"right"}


def test_the_untouched_starter_says_what_is_missing() -> None:
    found = notes.check(STARTER)
    assert found.entries == ()
    assert [problem.message for problem in found.problems] == [
        "expected at least one [[kernel]] entry, found none"
    ]


def test_the_starter_without_its_signs_has_every_key_of_the_form() -> None:
    written = re.findall(r"^# (\[.*|\w+ = .*)$", STARTER.read_text("utf-8"), re.M)
    values = tomllib.loads("\n".join(written))
    (kernel,) = values["kernel"]
    assert set(kernel) == set(form.KERNEL_KEYS) - {"commit", "op"}
