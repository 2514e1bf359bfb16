"""What the author of a known submission wrote about it: `// expect:` lines at its top.

    // expect: verdict=out_of_bounds
    // expect: kind=out_of_bounds line=9 access=read buffer=A
    // expect: points=85 speed="<= 3"

The verdict must be that of the folder it lies in. A line of points names items of the rubric, or
`points` for their sum: a number, or a limit that they must keep. Every other line names a finding
that must be there, by any of a fault's own keys. `kind=mismatch` is a wrong number (`buffer`, and
in `pattern` a part of its pattern), `kind=diagnostic` a message of the compiler (`line`,
`message`).
"""

from __future__ import annotations

import re

from grader.assignment_schema import RUBRIC_ITEMS
from grader.errors import AssignmentError
from grader.result import Fault, Record, Result, Severity

KEYS = frozenset({"kind", "severity", "access", "space", "buffer", "line", "column", "index",
                  "extent", "count", "pattern", "message"})  # fmt: skip

POINTS = frozenset({"points", *RUBRIC_ITEMS})

_LIMIT = re.compile(r"\s*(<=|>=|<|>|)\s*(\d+)\s*")
_LINE = re.compile(r"^\s*(?://|#)\s*expect:\s*(.*)$", re.MULTILINE)
_PAIR = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')


class Expectation(Record):
    """One `expect:` line: the keys a finding must have, as they are written."""

    keys: dict[str, str]

    def __str__(self) -> str:
        return " ".join(
            f'{key}="{value}"' if " " in value else f"{key}={value}"
            for key, value in self.keys.items()
        )


def read(text: str, file: str) -> tuple[str | None, tuple[Expectation, ...]]:
    """The verdict and the findings that a source names. Raises AssignmentError for unknown keys."""
    verdict, found = None, []
    for match in _LINE.finditer(text):
        keys = {key: quoted or bare for key, quoted, bare in _PAIR.findall(match[1])}
        line = text.count("\n", 0, match.start(1)) + 1
        if not keys:
            raise AssignmentError(f"{file}:{line}: expected key=value, found {match[1]!r}")
        if set(keys) == {"verdict"}:
            verdict = keys["verdict"]
            continue
        if set(keys) <= POINTS:
            for key, value in keys.items():
                if not _LIMIT.fullmatch(value):
                    raise AssignmentError(
                        f'{file}:{line}: expected points such as {key}=12 or {key}="<= 12", '
                        f"found {value!r}"
                    )
            found.append(Expectation(keys=keys))
            continue
        unknown = sorted(set(keys) - KEYS)
        if unknown:
            raise AssignmentError(f"{file}:{line}: unknown key {unknown[0]!r} of a finding")
        found.append(Expectation(keys=keys))
    return verdict, tuple(found)


def missing(expected: tuple[Expectation, ...], result: Result) -> tuple[Expectation, ...]:
    """The expectations that no case of the result, nor its compiler, fulfils."""
    return tuple(one for one in expected if not _met(one, result))


def found_instead(one: Expectation, result: Result) -> str:
    """What a result has in place of the points that a line names; empty for other lines."""
    return " ".join(f"{key}={_earned(key, result)}" for key in one.keys if key in POINTS)


def _earned(item: str, result: Result) -> int | None:
    """Points of an item of the rubric, or of all: null where nothing was scored."""
    if item == "points":
        return result.score.points
    if result.score.points is None:
        return None
    return sum(line.points for line in result.score.lines if line.item == item)


def _keeps(limit: str, earned: int | None) -> bool:
    found = _LIMIT.fullmatch(limit)
    if found is None or earned is None:
        return False
    number = int(found[2])
    return {
        "<=": earned <= number,
        ">=": earned >= number,
        "<": earned < number,
        ">": earned > number,
        "": earned == number,
    }[found[1]]


def _met(one: Expectation, result: Result) -> bool:
    if set(one.keys) <= POINTS:
        return all(_keeps(limit, _earned(item, result)) for item, limit in one.keys.items())
    kind = one.keys.get("kind")
    wanted = one.keys.get("pattern")
    if kind == "mismatch" or (kind is None and wanted is not None):
        mismatches = [case.mismatch for case in result.cases if case.mismatch is not None]
        if any(
            one.keys.get("buffer", found.output) == found.output
            and (wanted or "") in (found.pattern or "")
            for found in mismatches
        ):
            return True
    faults = [fault for case in result.cases for fault in case.faults]
    if kind is None and wanted is not None:
        return any(wanted in fault.message for fault in faults if fault.kind == "unwritten")
    if any(_is(one, fault) for fault in faults):
        return True
    return any(
        _same(one.keys.get("line"), found.line)
        and one.keys.get("message", "") in found.message
        and set(one.keys) <= {"kind", "line", "message"}
        and kind in (None, "diagnostic")
        for build in result.builds
        for found in build.diagnostics
    )


def _is(one: Expectation, fault: Fault) -> bool:
    if "severity" not in one.keys and fault.severity is not Severity.ERROR:
        return False
    for key, value in one.keys.items():
        if key == "pattern":
            return False
        if key == "message":
            if value not in fault.message:
                return False
        elif not _same(value, getattr(fault, key)):
            return False
    return True


def _same(wanted: str | None, found: object) -> bool:
    return wanted is None or wanted == str(found)
