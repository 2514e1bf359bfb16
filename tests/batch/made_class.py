"""A class of any size, made from the known submissions and the hostile ones, renamed.

Every student's file differs from every other's in names and comments, so that no build of one is
the build of another; what it must get stays that of the submission it was made from.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT

HOSTILE = ROOT / "tests" / "escape" / "submissions" / "cuda_c"
QUICK = (
    "calls_the_host", "control_honest", "control_wrong", "embeds_a_file", "errors_with_commands",
    "half_precision", "hides_from_filters", "includes_by_a_macro", "includes_itself",
    "includes_the_reference", "never_writes", "prints_a_verdict", "renames_its_lines",
    "wild_pointers", "zeroes_the_inputs", "zeros",
)  # fmt: skip
"""Hostile submissions that fail at once; others use up a limit, and a time-out is no speed."""

HANDED_IN = 1_700_000_000
"""When everybody handed in (seconds since 1970), so that two classes are the same."""

_LOCAL = re.compile(r"^ +(?:int|float|unsigned|size_t) (\w+) = ", re.MULTILINE)


def make(
    folder: Path, count: int, *, seed: int = 0, suffix: str = ".cu", verdicts: Sequence[str] = ()
) -> dict[str, set[str]]:
    """Write `count` submissions of assignment3 below `folder`, one folder per student.

    Returns the verdicts that each student may get. One in ten is hostile (CUDA C); `verdicts`
    keeps only known submissions of those. Known time-outs are left out.
    """
    chosen = random.Random(seed)
    known = sorted((ROOT / "assignments" / "assignment3" / "submissions").glob(f"*/*{suffix}"))
    known = [p for p in known if p.parent.name != "timed_out" and "whole_program" not in p.name]
    if verdicts:
        known = [p for p in known if p.parent.name in verdicts]
    expected: dict[str, set[str]] = {}
    for number in range(count):
        student = f"student{number:03}"
        if number % 10 == 9 and suffix == ".cu" and not verdicts:
            path = HOSTILE / f"{QUICK[number // 10 % len(QUICK)]}.cu"
            expected[student] = set(re.findall(r"// Expect: (.+)", path.read_text())[0].split())
            text = path.read_text()
        else:
            path = known[number % len(known)] if number < len(known) else chosen.choice(known)
            expected[student] = {path.parent.name}
            text = renamed(path.read_text(), f"_{number}") if suffix == ".cu" else path.read_text()
        comment = "#" if suffix == ".py" else "//"
        target = folder / student / f"kernel{suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{text.rstrip()}\n{comment} {student}\n")
        os.utime(target, (HANDED_IN, HANDED_IN))
    return expected


def renamed(text: str, ending: str) -> str:
    """The same program with every local variable called otherwise; lines stay where they are."""
    for name in sorted(set(_LOCAL.findall(text))):
        text = re.sub(rf"(?<![\w.>])\b{name}\b", f"{name}{ending}", text)
    return text
