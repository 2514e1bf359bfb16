"""Reading assignments: what is found, and that each mistake names its key and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import assignment, grade
from grader.errors import AssignmentError, UsageError

SHIPPED = Path(__file__).resolve().parents[2] / "assignments"
TEXT = (SHIPPED / "assignment3" / "assignment.toml").read_text()


def written(folder: Path, text: str) -> Path:
    path = folder / "assignment3" / "assignment.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_shipped_assignment_reads() -> None:
    found = assignment.load(str(SHIPPED / "assignment3"))
    assert [p.type for p in found.contracts("cuda-c")[0].parameters] == [
        "const float*", "const float*", "float*", "int",
    ]  # fmt: skip
    assert found.contracts("cuda-c")[0].constants == {"BLOCK": 256}
    assert [buffer.name for buffer in found.outputs()] == ["C"]
    assert found.speed_cases() == ("a million",)
    reference = found.reference("cuda-c")
    assert reference is not None and reference.name == "kernel.cu"


@pytest.mark.parametrize("name", sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()))
def test_every_shipped_assignment_reads(name: str) -> None:
    assert assignment.read(SHIPPED / name / "assignment.toml").name == name


# What is changed in assignment3, and what the message must hold. LINE stands for the line of the
# changed text.
MISTAKES = [
    ("n = N", 'role = "input"', 'role = "inputs"', ["buffer[0].role", "'inputs'"]),
    ("unknown key", "[tolerance.float32]\nrtol", "[tolerance.float32]\nrtoll",
     ["tolerance.float32", "rtol"]),
    ("missing", 'title = "Vector addition, and where numpy, PyTorch and MLX hide it"\n', "",
     ["'title' is missing"]),
    ("size", 'grid = "max(1, cdiv(N, BLOCK))"', 'grid = "max(1, cdiv(n, BLOCK))"',
     ["launch[0].grid", "'n'", "BLOCK, N"]),
    ("operator", 'grid = "max(1, cdiv(N, BLOCK))"', 'grid = "N / BLOCK"', ["launch[0].grid", "//"]),
    ("kernel", 'kernel = "vec_add"\nargs', 'kernel = "vecadd"\nargs',
     ["launch[0].kernel", "'vecadd'"]),
    ("arity", 'args = ["A", "B", "C", "N"]', 'args = ["A", "B", "C"]',
     ["launch[0].args", "4 arguments", "found 3"]),
    ("pointer", 'args = ["A", "B", "C", "N"]', 'args = ["A", "B", "N", "C"]', ["launch[0].args"]),
    ("dtype", '"const float* A", "const float* B", "float* C", "int N"]',
     '"const float* A", "const int* B", "float* C", "int N"]', ["B holds float32", "const int*"]),
    ("size missing", "sizes = { N = 1 }", "sizes = {}", ["case[1].sizes", "'N' is missing"]),
    ("size unknown", "sizes = { N = 1 }", "sizes = { N = 1, M = 2 }", ["case[1].sizes.M", "'M'"]),
    ("size negative", "sizes = { N = 1 }", "sizes = { N = -1 }", ["case[1].sizes.N"]),
    ("constant", "constants = { BLOCK = 128 }", "constants = { BLOCK = 100 }",
     ["constants.BLOCK", "100"]),
    ("twice", 'name = "one element"', 'name = "empty"', ["case[1].name", "second 'empty'"]),
    ("total", "build = 10", "build = 11", ["rubric", "101", "100"]),
    ("speed", "points = 9", "points = 8", ["speed", "14", "15"]),
    ("claims", "file = 5", "file = 4", ["notes.claims", "14", "15"]),
    ("claim", "file = 5", "fiel = 5", ["notes.claims.fiel", "not a claim"]),
    ("bands", "{ at_least = 0.95, share = 1.0 }", "{ share = 1.0 }", ["bands[0]", "at_least"]),
    ("time", "{ at_most = 1.1, share = 1.0 }", "{ at_least = 1.1, share = 1.0 }",
     ["time.bands[0]", "at_most"]),
    ("order", "{ at_most = 1.1, share = 1.0 }", "{ at_most = 1.1, share = 0.1 }",
     ["time.bands", "best first"]),
    ("tolerance", "[tolerance.float32]", "[tolerance.float16]", ["no tolerance for float32"]),
    ("cases", 'cases = ["a million"]', 'cases = ["a billion"]', ["speed.cases[0]", "a billion"]),
    ("name", 'name = "assignment3"', 'name = "assignment4"', ["name", "'assignment3'"]),
    ("default", "default = 256", "default = 250", ["constant[0].default", "250"]),
    ("type", "weight = 2", 'weight = "2"', ["weight", "'2'"]),
    ("syntax", "[rubric]", "[rubric", ["not TOML"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "words"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_names_its_key_and_line(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    assert old in TEXT
    before = TEXT[: TEXT.index(old)]
    path = written(tmp_path, TEXT.replace(old, new, 1))
    with pytest.raises(AssignmentError) as raised:
        assignment.read(path)
    first = raised.value.message.splitlines()[0]
    for word in words:
        assert word in raised.value.message
    assert str(path) in first
    # These stand where the thing should be, not where the text was changed.
    elsewhere = ("is missing", "add up", "no tolerance", "holds float32", "best first")
    if not any(words in first for words in elsewhere):
        lines = range(before.count("\n") + 1, before.count("\n") + 2 + new.count("\n"))
        assert any(f"{path}:{line}:" in raised.value.message for line in lines), first


def test_a_table_with_a_mistake_is_not_also_said_to_be_missing(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.replace('dtype = "float32"', 'dtype = "float23"'))
    with pytest.raises(AssignmentError) as raised:
        assignment.read(path)
    assert raised.value.message.count("float23") == 3
    assert "at least 1 item" not in raised.value.message
    empty = re.sub(r"(?ms)^\[\[case\]\].*?(?=^\[(?!\[case))", "", TEXT)
    path = written(tmp_path, f"case = []\n{empty}")
    with pytest.raises(AssignmentError, match="at least 1 item"):
        assignment.read(path)


def test_an_unreadable_file(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes(b'name = "x"\n# \xff\n')
    with pytest.raises(AssignmentError, match=":2: not UTF-8"):
        assignment.read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(AssignmentError, match="cannot be read"):
        assignment.read(path)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_file_reads_or_is_an_assignment_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = TEXT.splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at : at + 1] = data.draw(st.sampled_from([[], ["x = 1"], [lines[at]] * 2, ["[["]]))
    path = written(tmp_path_factory.mktemp("damaged"), "\n".join(lines))
    try:
        assignment.read(path)
    except AssignmentError as error:
        assert str(path) in error.message


def test_a_misspelt_name_is_answered_with_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADE_ASSIGNMENTS", raising=False)
    with pytest.raises(UsageError) as raised:
        assignment.load("asignment3", start=tmp_path)
    assert "Did you mean assignment3" in raised.value.message
    assert "assignment3" in raised.value.hint


def test_where_assignments_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = written(tmp_path / "course" / "assignments", TEXT.replace("title", "title", 1)).parent
    start = tmp_path / "course" / "labs" / "week1"
    start.mkdir(parents=True)
    monkeypatch.delenv("GRADE_ASSIGNMENTS", raising=False)
    assert assignment.load("assignment3", start=start).folder == above
    named = written(tmp_path / "named", TEXT).parent
    monkeypatch.setenv("GRADE_ASSIGNMENTS", str(tmp_path / "named"))
    assert assignment.load("assignment3", start=start).folder == named
    with pytest.raises(UsageError, match=r"no assignment.toml"):
        assignment.load(str(tmp_path / "nowhere"))


def test_a_students_folder_names_its_assignment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own := tmp_path / "assignment3").mkdir()
    (own / "kernel.cu").write_text("")
    monkeypatch.chdir(tmp_path)
    assert assignment.load("assignment3/").name == "assignment3"  # as a shell completes it
    assert grade.place("assignment3/", None) == Path("assignment3")
    monkeypatch.chdir(own)
    assert assignment.load(".").name == "assignment3" and grade.place(".", None) == Path()
    monkeypatch.chdir("/")
    assert grade.place(str(own), None) == own
    for file in ("kernel.cu", str(own / "kernel.cu")):
        with pytest.raises(UsageError, match=r"expected an assignment's name, found the file"):
            assignment.load(file)


def test_a_later_launch_may_only_read_what_an_earlier_one_made(tmp_path: Path) -> None:
    second = """
[[kernel]]
name = "later"

[kernel.cuda-c]
parameters = ["const float* C", "float* D", "int N"]

[[launch]]
kernel = "later"
args = ["C", "D", "N"]
grid = 1
block = 32

[[buffer]]
name = "D"
role = "output"
dtype = "float32"
shape = ["N"]
"""
    only = TEXT.replace('languages = ["cuda-c", "metal", "triton"]', 'languages = ["cuda-c"]', 1)
    assert assignment.read(written(tmp_path / "made", only + second)).launches[1].kernel == "later"
    alone = second.replace('"const float* C", "float* D"', '"float* C", "const float* D"')
    with pytest.raises(AssignmentError, match="D is an output, but its parameter is 'const float"):
        assignment.read(written(tmp_path / "alone", only + alone))
