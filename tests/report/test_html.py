"""The HTML report: one file, well formed, and nothing a student wrote becomes markup."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from grader.report import code, html, pictures
from grader.result import LineMetrics, Result, Verdict
from tests.report import results

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Tree(HTMLParser):
    """Checks that tags close in order; collects tags, ids and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parse(result: Result) -> Tree:
    tree = Tree()
    tree.feed(html.render(result))
    tree.close()
    assert not tree.open
    return tree


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_is_one_well_formed_file(make: Callable[[], Result]) -> None:
    tree = parse(make())
    ids = [attrs["id"] for _, attrs in tree.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in tree.tags:
        assert tag not in ("script", "link", "img", "iframe", "object")
        for name in ("href", "src"):
            assert (attrs.get(name) or "#").startswith("#")
    assert "url(" not in html.render(make())


@pytest.mark.parametrize("make", results.ALL, ids=lambda make: make.__name__)
def test_headings_do_not_skip_a_level(make: Callable[[], Result]) -> None:
    levels = [int(tag[1]) for tag, _ in parse(make()).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_students_text_stays_text() -> None:
    tree = parse(results.hostile())
    assert "<script>alert(1)</script>" in tree.text
    assert "<img src=x onerror=alert(1)>" in tree.text
    assert "{{ 7 * 7 }}" in tree.text
    assert not any("onerror" in attrs for _, attrs in tree.tags)
    assert "\x1b" not in tree.text


def test_the_faulty_line_is_marked_and_says_why() -> None:
    tree = parse(results.out_of_bounds())
    rows = {attrs.get("id"): attrs.get("class") for tag, attrs in tree.tags if tag == "tr"}
    assert rows["L6"] == "error"
    assert rows["L5"] == "warning"
    assert rows["L4"] is None
    assert "96 sectors, 48 would do" in tree.text


def bars(sectors: dict[int, tuple[float, float]]) -> tuple[dict[int, tuple[float, float]], str]:
    """Shares of each line's bar, what would do and the waste, and the legend."""
    lines = tuple(
        LineMetrics(
            file="vec_add.cu",
            line=number,
            counts={"global_sectors": moved, "global_sectors_ideal": ideal},
        )
        for number, (moved, ideal) in sectors.items()
    )
    (file,) = results.accepted().files
    found = {
        row.number: (heat.ideal_share, heat.share - heat.ideal_share)
        for row in code.rows(file, (), (), lines)
        for heat in row.heat
    }
    (full,) = code.legend(lines)
    return found, full.text


def test_bars_are_shares_of_all_that_the_kernel_did() -> None:
    """A line that wastes little has little red, even where every other line wastes less."""
    found, text = bars({5: (990, 990), 6: (10, 5)})
    assert found[5] == pytest.approx((0.99, 0)) and found[6] == pytest.approx((0.005, 0.005))
    assert text == "all 1,000 sectors of 32 bytes moved; less than 1 % of them more than needed"
    found, text = bars({6: (96, 96)})
    assert found == {6: (1, 0)} and text.endswith("; none of them more than needed")
    found, text = bars({6: (400, 100)})
    assert found == {6: (0.25, 0.75)} and text.endswith("; 75 % of them more than needed")


def test_few_branches_that_split_are_no_full_bar() -> None:
    counts = {"branches": 1000.0, "divergent_branches": 1.0}
    lines = (LineMetrics(file="vec_add.cu", line=6, counts=counts),)
    (file,) = results.accepted().files
    (heat,) = (heat for row in code.rows(file, (), (), lines) for heat in row.heat)
    assert heat.share - heat.ideal_share == pytest.approx(0.001)
    assert heat.text == "1 of 1,000 branches split a warp"
    (full,) = code.legend(lines)
    assert full.text == "all 1,000 branches taken by warps; less than 1 % of them split a warp"
    whole = LineMetrics(file="vec_add.cu", line=6, counts={"branches": 9.0})
    assert code.legend((whole,)) == ()


def test_how_long_a_wrong_kernel_took_is_not_said() -> None:
    """It would look fast: one that does nothing takes a fifth of the reference's time."""
    result = results.accepted()
    assert "over reference" in parse(result).text and "12.3 µs" in parse(result).text
    cases = tuple(c.model_copy(update={"verdict": Verdict.WRONG_ANSWER}) for c in result.cases)
    wrong = result.model_copy(update={"verdict": Verdict.WRONG_ANSWER, "cases": cases})
    assert "12.3 µs" not in parse(wrong).text


def test_the_map_of_a_wrong_output_shows_each_wrong_cell_and_says_it_in_words() -> None:
    tree = parse(results.wrong_answer())
    kinds = [attrs.get("class") for tag, attrs in tree.tags if tag == "rect"]
    assert kinds.count("wrong") == 744
    assert kinds.count("right") == 256
    [label] = [attrs["aria-label"] for tag, attrs in tree.tags if tag == "svg"]
    assert label == "C (1000 elements) in case tail: 744 wrong"


def test_pictures_of_cost_say_in_words_what_they_show() -> None:
    tree = parse(results.accepted())
    labels = [attrs["aria-label"] or "" for tag, attrs in tree.tags if tag == "svg"]
    assert labels[0].startswith("modelled time of each case. empty: 12.3 µs, reference 12.1 µs")
    assert "yours: 0.0833 flops per byte" in labels[1]
    assert "What bounds yours: DRAM." in tree.text
    kinds = [attrs.get("class") for tag, attrs in tree.tags if tag in ("circle", "rect")]
    assert kinds.count("yours") == kinds.count("theirs") == 4


def test_an_accepted_kernel_that_is_slow_shows_the_line_that_costs_most() -> None:
    text = parse(results.slow()).text
    assert (
        "Line 6 costs most beyond what it needs: 512 sectors of 32 bytes are moved where 128 would"
        in text
    )
    assert ">   6 |     C[i] = A[i] + B[i];" in text
    assert "costs most beyond" not in parse(results.accepted()).text


def test_both_halves_of_a_race_are_shown() -> None:
    text = parse(results.race()).text
    assert "The other access, write by block 0, thread 32 at line 5:" in text
    assert ">   5 |     int i" in text
    assert ">   6 |     C[i]" in text


def test_no_script_runs_in_a_report_whatever_a_student_wrote() -> None:
    policies = [a["content"] for t, a in parse(results.hostile()).tags if "http-equiv" in a]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_the_access_of_a_warp_is_drawn_lane_by_lane() -> None:
    tree = parse(results.out_of_bounds())
    labels = [attrs["aria-label"] or "" for tag, attrs in tree.tags if tag == "svg"]
    said = (
        "One warp's read of A, lane by lane: 24 lanes are outside of its 1,000 elements, 8 inside"
    )
    assert labels[0] == said
    lines = [attrs.get("class") for tag, attrs in tree.tags if tag == "line"]
    assert lines.count("bad") == 24
    assert lines.count("good") >= 8


def test_a_wild_access_is_drawn_on_an_axis() -> None:
    wild = results.OUT_OF_BOUNDS.model_copy(
        update={"lanes": (-(2**31), None, 5, *(2**31 + i for i in range(29)))}
    )
    picture = pictures.access(wild)
    assert picture is not None
    assert "30 lanes are outside" in picture
    assert picture.count("<rect") == 33


def test_a_file_of_a_hundred_thousand_lines_is_shown_in_part() -> None:
    """Attack: a megabyte of empty lines, each of which was a row: a report of 121 MB."""
    result = results.build_failed()
    file = result.files[0].model_copy(update={"text": "\n" * 100_000 + "int x = y;\n"})
    error = result.builds[0].diagnostics[0].model_copy(update={"line": 100_001})
    build = result.builds[0].model_copy(update={"diagnostics": (error,)})
    page = html.render(result.model_copy(update={"files": (file,), "builds": (build,)}))
    assert len(page) < 1_500_000
    assert 'id="L5000"' in page
    assert 'id="L5001"' not in page
    assert 'id="L100001" class="error"' in page
    assert "Of the lines after 5,000" in page


@pytest.mark.parametrize(
    "text", ["\n" * 900_000, " \n" * 450_000, "# " + "/**/ " * 180_000, 'R"a(' * 200_000]
)
def test_colours_do_not_take_for_ever(text: str) -> None:
    """Attack: text that a highlighter's expressions go back over again and again: hours of CPU.
    Why it must fail: such text has no colours."""
    started = time.process_time()
    lines = code.highlight(f"{text}\nint x = y;\n", "cuda-c")
    assert len(lines) == text.count("\n") + 2
    assert "x = " in lines[-1]
    assert time.process_time() - started < 10


def test_lines_are_the_same_with_and_without_colours() -> None:
    text = "int a;\n\n// <b>\n" * 2000
    tags = re.compile(r"</?span[^>]*>")
    shown = [tags.sub("", line) for line in code.highlight(text, "cuda-c")]
    assert shown == ["int a;", "", "// &lt;b&gt;"] * 2000
