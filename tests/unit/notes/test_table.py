"""Every note of the table gets the verdict and the reason beside it, offline and quickly."""

from __future__ import annotations

import pytest

from grader import notes
from grader.notes.sources import Sources
from tests.unit.notes.rows_near import NEAR
from tests.unit.notes.rows_none import HOSTILE, NONE
from tests.unit.notes.rows_right import RIGHT
from tests.unit.notes.rows_wrong import WRONG
from tests.unit.notes.table import Row

ROWS = [*RIGHT, *WRONG, *NEAR, *NONE, *HOSTILE]
ALONE = Sources(packages=False)


def test_the_table_is_large_and_its_names_differ() -> None:
    assert len(ROWS) >= 80
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_note_gets_its_verdict_and_reason(row: Row) -> None:
    (entry,) = notes.check_text(row.text, row.file_name, use=ALONE).entries
    found = {claim.claim: (claim.verdict, claim.reason) for claim in entry.claims}
    for claim, (verdict, words) in row.claims.items():
        assert (claim, found[claim][0]) == (claim, verdict), found[claim][1]
        assert words in found[claim][1]
    assert entry.verdict == row.verdict, found
