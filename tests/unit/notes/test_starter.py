"""The shipped notes: the starter says what is missing, the reference gets every point."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from grader import notes
from grader.notes import form, points
from grader.result import NotesRubric

ROOT = Path(__file__).parents[3]
STARTER = ROOT / "student_template" / "assignment3" / "notes.toml"


def test_the_reference_note_gets_full_points() -> None:
    found = notes.check(ROOT / "reference" / "assignment3", NotesRubric(kernels=2))
    assert found.problems == ()
    assert [entry.verdict for entry in found.entries] == ["right", "right"]
    line = points.score(found, NotesRubric(kernels=2), 15)
    assert (line.points, line.why) == (15, "every claim holds")


def test_the_untouched_starter_earns_nothing_and_says_why() -> None:
    found = notes.check(STARTER)
    assert [problem.message for problem in found.problems] == [
        "expected at least one [[kernel]] entry, found none"
    ]
    assert points.score(found, NotesRubric(), 15).points == 0


def test_the_starter_without_its_signs_has_every_key_of_the_form() -> None:
    written = re.findall(r"^# (\[.*|\w+ = .*)$", STARTER.read_text("utf-8"), re.M)
    values = tomllib.loads("\n".join(written))
    (kernel,) = values["kernel"]
    assert set(kernel) == set(form.KERNEL_KEYS) - {"commit", "op"}
