"""Races that Triton's own code makes are told from the author's."""

from __future__ import annotations

import pytest

from grader.languages.triton_races import settle
from grader.result import Fault, Place, Severity

IN_PLACE = """\
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(x_ptr + offs, 2 * x, mask=offs < n)
    tl.store(x_ptr + BLOCK - 1 - offs, x, mask=offs < n)
"""


def race(thread: int, line: int = 4, other_line: int = 5, **facts) -> Fault:
    known = {
        "kind": "race",
        "severity": Severity.ERROR,
        "access": "read",
        "space": "global",
        "buffer": "X",
        "line": line,
        "block": (0, 0, 0),
        "thread": (thread, 0, 0),
        "other": Place(access="write", line=other_line, block=(0, 0, 0), thread=(0, 0, 0)),
        "message": "race on X[0]",
    }
    return Fault(**{**known, **facts})


LOADED = IN_PLACE.replace("offs = tl.arange(0, BLOCK)", "offs = tl.load(n + tl.arange(0, BLOCK))")


@pytest.mark.parametrize("thread", [16, 24, 64, 67])
def test_only_copies_meet_where_offsets_differ_from_lane_to_lane(thread):
    assert settle([race(thread), race(thread, severity=Severity.WARNING)], IN_PLACE) == ()
    other = Place(access="read", line=4, block=(0, 0, 0), thread=(thread, 0, 0))
    assert settle([race(0, line=5, access="write", other=other)], IN_PLACE) == ()


def test_indices_that_were_loaded_may_be_equal():
    (settled,) = settle([race(16, severity=Severity.WARNING)], LOADED)
    assert settled.severity is Severity.NOTE
    (settled,) = settle([race(64)], LOADED)
    assert settled.severity is Severity.NOTE
    assert "spare warps load it again" in settled.message
    assert settle([race(67)], LOADED) == (race(67),)


def test_a_value_that_is_stored_and_loaded_again_may_have_moved():
    again = IN_PLACE.replace("    x = tl.load(x_ptr + offs, mask=offs < n)\n", "    x = 1.0\n")
    again = again.replace("    tl.store(x_ptr + BLOCK - 1 - offs, x, mask=offs < n)\n", "")
    again += "    y = tl.load(x_ptr + offs, mask=offs < n)\n"
    raw = race(67, line=6)
    assert settle([raw], again) == (raw,)


@pytest.mark.parametrize(
    "raw",
    [
        race(64, other_line=6),  # other offsets
        race(64, block=(1, 0, 0)),  # another program
        race(64, access="write"),  # two writes
        race(64, kind="out_of_bounds"),
    ],
)
def test_other_races_stay(raw):
    assert settle([raw], IN_PLACE) == (raw,)


def test_shared_memory_is_the_compilers():
    assert settle([race(65, space="shared", buffer="global_smem")], IN_PLACE) == ()
    kept = race(65, space="shared", kind="out_of_bounds")
    assert settle([kept], IN_PLACE) == (kept,)
