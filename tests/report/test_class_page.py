"""The class report: what it counts, who it leaves out, and that no name becomes markup."""

from __future__ import annotations

import csv
import functools
import io
from pathlib import Path

from grader.batch.grades import Grade, anonymous
from grader.batch.roster import Student
from grader.report import class_files, class_page, class_rows
from grader.report.class_rows import ClassReport, summarise
from grader.result import Score, Verdict
from tests.report import class_of, results
from tests.report.test_html import Tree


def report(count: int = 12) -> ClassReport:
    grades, result_of = class_of.students(count)
    return summarise("assignment3", grades, result_of, lambda grade: f"reports/{grade.result}.html")


def parsed(text: str) -> Tree:
    tree = Tree()
    tree.feed(text)
    tree.close()
    assert not tree.open
    return tree


def test_counts_each_case_over_those_who_were_graded_on_it() -> None:
    rates = {case.name: case for case in report().cases}
    # Rows 0, 4, 8 are accepted; 5, 9 out of bounds; 6, 10 wrong; 3, 7, 11 do not build.
    assert (rates["tail"].graded, rates["tail"].failed) == (4, 4)
    assert dict(rates["tail"].verdicts) == {Verdict.OUT_OF_BOUNDS: 2, Verdict.WRONG_ANSWER: 2}
    assert (rates["prime"].graded, rates["prime"].failed) == (5, 2)
    assert (rates["empty"].graded, rates["empty"].failed) == (3, 0)


def test_infrastructure_missing_and_late_are_counted_apart() -> None:
    found = report()
    assert [row.grade.student.id for row in found.infrastructure] == ["s0001"]
    assert [row.grade.student.id for row in found.missing] == ["s0002"]
    assert [row.grade.student.id for row in found.late] == ["s0003"]
    assert len(found.points) == 10  # neither who handed in nothing nor whom the grader failed
    assert sum(bin.students for bin in class_page.bins(found)) == 10
    assert {kind.name: kind.students for kind in found.kinds} == {"out_of_bounds": 2}
    assert {kind.name: kind.students for kind in found.warnings} == {"race": 2}
    assert {kind.name: kind.students for kind in found.patterns} == {"only_first_block": 2}
    items = {item.name: item for item in found.items}
    assert (items["build"].full, items["build"].none, items["build"].students) == (7, 3, 10)


def test_every_point_has_one_bin() -> None:
    base, result_of = class_of.students(1)
    for out_of in (1, 3, 7, 10, 60, 100):
        for points in range(out_of + 1):
            grade = base[0].model_copy(update={"points": points, "out_of": out_of})
            found = class_page.bins(summarise("a", [grade], result_of))
            assert sum(bin.students for bin in found) == 1, (points, out_of)
            low, _, high = next(bin.label for bin in found if bin.students).partition(" to ")
            assert int(low) <= points <= int(high)


def test_the_page_names_the_case_that_most_fail_and_links_every_report() -> None:
    tree = parsed(class_page.render(report()))
    assert "Case tail (N=1000) fails most: 4 of 4 students, mostly" in tree.text
    links = {attrs.get("href") for tag, attrs in tree.tags if tag == "a"}
    assert {f"reports/{row}.html" for row in range(1, 13) if row != 3} <= links
    assert "reports/3.html" not in links
    assert "1 student handed in nothing" in tree.text
    assert "grade verify" not in tree.text  # four students are not a class


def test_a_case_that_nearly_all_fail_is_the_instructors_first() -> None:
    assert "grade verify assignment3" in parsed(class_page.render(report(40))).text


def test_a_name_stays_text() -> None:
    text = class_page.render(report())
    tree = parsed(text)
    assert '<img src=x onerror=alert(1)> "quoted"' in tree.text
    assert "\x1b" not in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text
    assert not any("onerror" in attrs for _, attrs in tree.tags)
    assert sum(tag == "script" for tag, _ in tree.tags) == 1
    policy = next(a["content"] or "" for t, a in tree.tags if "http-equiv" in a)
    assert "script-src 'sha256-" in policy


def test_empty_classes_have_a_page() -> None:
    nobody = summarise("assignment3", (), lambda row: results.accepted())
    assert "No case has been graded." in parsed(class_page.render(nobody)).text
    missing = Grade(student=Student(id="ann"), points=None, out_of=100)
    alone = summarise("assignment3", [missing], lambda row: results.accepted())
    assert "1 student handed in nothing" in parsed(class_page.render(alone)).text
    assert "has been timed yet" in class_page.render_board(alone, str)


def test_csv_has_a_column_for_each_case_and_no_formula() -> None:
    grades, result_of = class_of.students(7)
    bad = grades[0].model_copy(update={"student": Student(id="=cmd()", name="-1+1")})
    found = summarise("assignment3", [bad, *grades[1:]], result_of)
    rows = list(csv.DictReader(io.StringIO(class_page.csv(found))))
    assert rows[0]["id"] == "'=cmd()"
    assert rows[0]["case prime"] == "accepted"
    assert rows[2]["verdict"] == rows[2]["case tail"] == ""
    assert rows[3]["first_thing_wrong"] == 'vec_add.cu:6: identifier "c" is undefined'
    assert "pseudonym" not in rows[0]


def test_the_leaderboard_names_nobody_and_ties_share_a_place() -> None:
    found = report()
    board = class_page.board(found, lambda student: f"p-{student}")
    assert board is not None
    assert [place.rank for place in board.places] == [1, 1, 1]
    assert board.how == "modelled on the A100"
    text = class_page.render_board(found, lambda student: "p" * (int(student[1:]) + 1))
    for row in found.rows:
        assert row.grade.student.id not in text
        assert row.grade.student.name not in text


def test_a_faster_kernel_stands_first_and_only_accepted_ones_stand() -> None:
    quick = results.accepted()
    cases = tuple(
        case.model_copy(update={"timing": case.timing.model_copy(update={"nanoseconds": 99.0})})
        for case in quick.cases
        if case.timing is not None
    )
    made = {1: results.accepted(), 2: quick.model_copy(update={"cases": cases}),
            3: quick.model_copy(update={"cases": cases, "verdict": Verdict.RACE,
                                        "score": Score(points=1, out_of=100)})}  # fmt: skip
    grades = [
        Grade(student=Student(id=f"s{n}"), points=1, out_of=100, verdict=r.verdict, attempts=1,
              result=n)
        for n, r in made.items()
    ]  # fmt: skip
    board = class_page.board(summarise("a", grades, made.__getitem__), str)
    assert board is not None
    assert [(p.rank, p.pseudonym) for p in board.places] == [(1, "s2"), (2, "s1")]


def test_the_folder_holds_a_report_for_each_name_even_where_two_are_spelt_alike(
    tmp_path: Path,
) -> None:
    grades, result_of = class_of.students(5)
    twins = [
        grade.model_copy(update={"student": Student(id=name)})
        for grade, name in zip(grades, ("a/b", "a_b", "c", "A_B", "../../etc"), strict=True)
    ]
    page = class_files.write(tmp_path / "out", "assignment3", twins, result_of)
    names = sorted(path.name for path in (tmp_path / "out" / "reports").iterdir())
    assert names == ["A_B-3.html", "_.._etc.html", "a_b-2.html", "a_b.html"]
    assert not (tmp_path / "out" / "leaderboard.html").exists()
    links = [a["href"] or "" for t, a in parsed(page.read_text()).tags if t == "a" and "href" in a]
    inside = {link for link in links if not link.startswith("#")}
    assert inside == {"class.csv", *(f"reports/{name}" for name in names)}


def test_only_what_changed_is_written_again(tmp_path: Path) -> None:
    grades, result_of = class_of.students(12)
    grades = tuple(g for g in grades if g.result)
    write = functools.partial(class_files.write, tmp_path, "assignment3")
    reports = tmp_path / class_files.REPORTS

    def state() -> dict[str, tuple[int, int]]:
        """Every report by its inode: a report that is written again is another file."""
        return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in reports.glob("*.html")}

    told: list[int] = []
    write(grades, result_of, step=told.append)
    first = state()
    assert told == list(range(1, 12)) and len(first) == 11
    write(grades, result_of)
    assert state() == first

    (reports / "s0003.html").write_text("somebody typed into it")
    (reports / "s0004.html").unlink()
    (reports / "mine.html").write_text("not ours")
    slower = result_of(7).model_copy(update={"seconds": 9.0})
    page = (tmp_path / "class.html").read_text()
    write(grades, lambda row: slower if row == 7 else result_of(row))
    second = state()
    assert {n for n in first if second[n] != first[n]} == {"s0003.html", "s0004.html", "s0006.html"}
    assert (tmp_path / "class.html").read_text() == page  # the seconds do not stand there
    assert "in 9.0 s" in (reports / "s0006.html").read_text()

    write(grades[1:], result_of, remark="")  # under another heading, and without the first student
    assert not (reports / "s0000.html").exists() and (reports / "mine.html").exists()
    third = state()
    assert not {n for n in third if third[n] == second[n]} - {"mine.html"}
    assert "instructor" not in (reports / "s0004.html").read_text()

    for broken in ("", "[1]", '{"../class.html": ["a", 1, 2], "s0001.html": 7}', '{"x": {}}'):
        (tmp_path / class_files.WRITTEN).write_text(broken)
        write(grades[:2], result_of)
        assert (tmp_path / "class.html").is_file() and (reports / "s0001.html").is_file()


def test_a_folder_made_anonymous_keeps_no_name(tmp_path: Path) -> None:
    grades, result_of = class_of.students(12)
    class_files.write(tmp_path, "assignment3", grades, result_of)
    class_files.write(tmp_path, "assignment3", anonymous(grades, b"key"), result_of)
    names = [p.name for p in (tmp_path / class_files.REPORTS).iterdir()]
    assert len(names) == 11 and not any(name.startswith("s0") for name in names)
    assert "s0003" not in (tmp_path / class_files.WRITTEN).read_text()


def test_times_that_a_device_measured_stand_on_a_board_of_their_own() -> None:
    """A measured time that is not believed is no time of that board."""
    believed = results.measured()
    first, *rest = believed.cases
    assert first.measured is not None
    doubted = first.measured.model_copy(update={"untrusted": ("it was too fast",)})
    cheating = believed.model_copy(
        update={"cases": (first.model_copy(update={"measured": doubted}), *rest)}
    )
    measured, modelled = class_rows._speed(believed), class_rows._speed(cheating)
    assert measured is not None
    assert modelled is not None
    assert (measured.source, measured.device, measured.nanoseconds) == ("measured", "A Card", 5200)
    assert modelled.source == "modelled"
