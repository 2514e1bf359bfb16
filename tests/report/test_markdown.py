"""The Markdown report: under the limit, and a student's text stays text."""

from __future__ import annotations

from grader.report import markdown
from tests.report import results


def test_long_reports_stay_under_the_limit_and_say_what_is_missing() -> None:
    result = results.out_of_bounds()
    many = result.model_copy(update={"cases": result.cases * 2000})
    text = markdown.render(many)
    assert len(text.encode()) < 65_536
    assert "report.html" in text
    assert "out of bounds" in text


def test_table_cells_keep_their_bars() -> None:
    text = markdown.render(results.hostile())
    rows = [line for line in text.splitlines() if line.startswith("| tail")]
    assert len(rows) == 1
    unescaped = rows[0].replace("\\|", "")
    assert unescaped.count("|") == 7


def test_markup_is_escaped_outside_of_code() -> None:
    text = markdown.render(results.hostile())
    outside = text.split("````")[::2]
    assert not any("<img" in part or "<script" in part or "<b>" in part for part in outside)


def test_a_fence_is_longer_than_the_backticks_inside() -> None:
    assert markdown.fence("a ``` b").startswith("````\n")
