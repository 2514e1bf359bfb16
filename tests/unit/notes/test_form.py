"""The form of a note: every mistake is named with its line and key, and nothing crashes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader import notes
from grader.notes import form
from grader.notes.sources import Sources

GOOD = """[[kernel]]
framework = "numpy"
version = "2.3.5"
elements_per_thread = 16
differs_from_mine = "SIMD vectors on the CPU"
[[kernel.file]]
path = "numpy/_core/src/umath/loops_arithm_fp.dispatch.c.src"
role = "kernel"
symbol = ["FLOAT_add", "@TYPE@_@kind@"]
[kernel.global_id]
none = "because a CPU loop has no threads"
[kernel.bounds_check]
lines = [103, 103]
quote = "for (; len >= lstep; len -= lstep)"
[kernel.operation]
lines = "108-109"
quote = "npyv_@sfx@ r0 = npyv_@intrin@_@sfx@(a0, b0);"
"""


def said(text: str, name: str = "notes.toml") -> list[tuple[int | None, str]]:
    return [(p.line, p.message) for p in form.parse(text, name).problems]


def test_a_good_note_has_no_problem_and_keeps_its_lines() -> None:
    read = form.parse(GOOD, "notes.toml")
    assert read.problems == ()
    (kernel,) = read.kernels
    assert (kernel.framework, kernel.backend, kernel.elements) == ("numpy", "cpu", "16")
    assert kernel.files[0].symbols == ("FLOAT_add", "@TYPE@_@kind@")
    assert kernel.facts["operation"].lines == (108, 109)
    assert (kernel.line, kernel.files[0].line, kernel.facts["bounds_check"].line) == (1, 7, 12)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            'framework = "numpy"',
            'framework = "nunpy"',
            2,
            "kernel[1].framework: expected one of numpy, pytorch, torch.compile, mlx, cupy, jax, "
            'found "nunpy" (did you mean numpy?)',
        ),
        (
            'framework = "numpy"',
            "framework = 3",
            2,
            "kernel[1].framework: expected a name, found a number",
        ),
        ('framework = "numpy"\n', "", 1, "kernel[1]: expected framework: a name, found nothing"),
        (
            'version = "2.3.5"',
            "version = 2.3",
            3,
            'kernel[1].version: expected a version in quotes, as "2.6.0", found a number',
        ),
        (
            'version = "2.3.5"',
            'verison = "2.3.5"',
            3,
            "kernel[1].verison: unknown key (did you mean version?); expected framework, backend, "
            "version, commit, op, file, global_id, bounds_check, operation, elements_per_thread, "
            "differs_from_mine",
        ),
        (
            'version = "2.3.5"',
            'backend = "cuda"',
            3,
            'kernel[1].backend: expected one of cpu for numpy, found "cuda"',
        ),
        (
            "[[kernel.file]]",
            "[kernel.file]",
            6,
            "kernel[1].file: expected [[kernel.file]] (two brackets: an entry of a list)",
        ),
        (
            "[[kernel]]",
            "[kernel]",
            1,
            "kernel: expected [[kernel]] (two brackets: an entry of a list)",
        ),
        (
            'path = "numpy/_core/src/umath/loops_arithm_fp.dispatch.c.src"\n',
            "",
            6,
            "kernel[1].file[1]: expected path: a path, found nothing",
        ),
        (
            'role = "kernel"',
            'roll = "kernel"',
            8,
            "kernel[1].file[1].roll: unknown key (did you mean role?); expected path, role, symbol",
        ),
        (
            'symbol = ["FLOAT_add", "@TYPE@_@kind@"]',
            "symbol = [1]",
            9,
            "kernel[1].file[1].symbol: expected a name or a list of names",
        ),
        (
            'none = "because a CPU loop has no threads"',
            "none = true",
            11,
            'kernel[1].global_id.none: expected a reason, as none = "because ...", '
            "found true or false",
        ),
        (
            'none = "because a CPU loop has no threads"',
            'none = "no"',
            11,
            "kernel[1].global_id.none: expected the reason why there is none, in a few words",
        ),
        (
            'none = "because a CPU loop has no threads"',
            'none = "it has none"\nlines = 3',
            10,
            "kernel[1].global_id: expected lines and quote, or none, found both; none is read",
        ),
        (
            "lines = [103, 103]",
            "lines = [9, 3]",
            13,
            "kernel[1].bounds_check.lines: expected 1 <= first <= last",
        ),
        (
            "lines = [103, 103]",
            "lines = [1, 900]",
            13,
            "kernel[1].bounds_check.lines: expected the few lines that do it, found 900",
        ),
        (
            "lines = [103, 103]",
            'lines = "somewhere"',
            13,
            "kernel[1].bounds_check.lines: expected a line number or [first, last], found text",
        ),
        (
            "lines = [103, 103]\n",
            "",
            12,
            'kernel[1].bounds_check: expected lines = 12 or [12, 14], or none = "because ..."',
        ),
        (
            'quote = "for (; len >= lstep; len -= lstep)"\n',
            "",
            12,
            "kernel[1].bounds_check: expected quote: the line as it stands in the file",
        ),
        (
            '[kernel.global_id]\nnone = "because a CPU loop has no threads"\n',
            "",
            1,
            "kernel[1]: expected [kernel.global_id] with lines and quote, or with none = "
            '"because ..."; '
            "found neither",
        ),
        (
            "elements_per_thread = 16",
            "elements_per_thread = []",
            4,
            "kernel[1].elements_per_thread: expected a number or a sentence, found a list",
        ),
        (
            'role = "kernel"',
            'role = "\\u001b[31mred"',
            8,
            "kernel[1].file[1].role: expected printable text, found control characters",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(
    old: str, new: str, line: int, message: str
) -> None:
    assert old in GOOD
    assert (line, message) in said(GOOD.replace(old, new, 1))


def test_a_second_entry_counts_from_its_own_line() -> None:
    text = GOOD + GOOD.replace('"2.3.5"', "235")
    assert said(text) == [
        (20, 'kernel[2].version: expected a version in quotes, as "2.6.0", found a number')
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[[kernel]\n", 1, "not valid TOML"),
        (GOOD.replace('"numpy"', "numpy", 1), 2, "not valid TOML"),
        (GOOD.replace('"numpy"', "\u201cnumpy\u201d", 1), 2, "expected straight quotes"),
        (GOOD.replace('"numpy"', '"C:\\Users"', 1), 2, "starts an escape"),
        ("", 1, "expected at least one [[kernel]]"),
        ("x = 1\n", 1, "unknown key"),
    ],
)
def test_broken_toml_and_none_at_all(text: str, line: int, words: str) -> None:
    found = said(text)
    assert found[0][0] == line
    assert words in found[0][1]


def test_front_matter_of_a_markdown_note(tmp_path: Path) -> None:
    for fence in ("+++", "---"):
        text = f"{fence}\n{GOOD}{fence}\n\n# My note\n\n[[kernel]] is not read here\n"
        assert form.parse(text, "NOTES.md").kernels[0].facts["bounds_check"].line == 13
        assert form.parse(text, "NOTES.md").problems == ()
    broken = "+++\n" + GOOD.replace("version = ", "verison = ") + "+++\n"
    assert said(broken, "notes.md")[0][0] == 4
    assert said("# only prose\n", "notes.md") == [
        (1, "expected front matter: TOML between two lines of +++ at the top of the file")
    ]
    assert said("+++\nx = 1\n", "notes.md") == [
        (1, "expected a second line of +++ that ends the front matter")
    ]
    (tmp_path / "README.md").write_text("# not a note\n")
    (tmp_path / "my-kernel.md").write_text("+++\n" + GOOD + "+++\n")
    assert form.find(tmp_path) == tmp_path / "my-kernel.md"
    (tmp_path / "notes.toml").write_text(GOOD)
    assert form.find(tmp_path) == tmp_path / "notes.toml"


def test_a_folder_without_notes(tmp_path: Path) -> None:
    found = notes.check(tmp_path)
    assert found.file is None
    assert "found neither" in found.problems[0].message


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert form.read(file).problems == ()


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    with file.open("wb") as stream:
        stream.truncate(50 << 20)
    assert [p.message for p in form.read(file).problems] == [
        "expected at most 256 KiB, found 51200"
    ]


def test_other_bytes_name_their_line(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_bytes(b"[[kernel]]\nframework = '\xff'\n")
    (problem,) = form.read(file).problems
    assert (problem.line, problem.message) == (2, "expected UTF-8 text, found other bytes")


def test_ten_thousand_entries_are_cut_short() -> None:
    read = form.parse("[[kernel]]\nframework='mlx'\n" * 9000, "notes.toml")
    assert len(read.kernels) == form.MAX_KERNELS
    assert len(read.problems) <= 200
    assert "found 9000; the first 16 are read" in read.problems[0].message


def test_ten_thousand_entries_are_too_large_a_file() -> None:
    read = form.parse('[[kernel]]\nframework = "mlx"\n' * 10_000, "notes.toml")
    assert [p.message for p in read.problems] == ["expected at most 256 KiB, found 283"]


def test_the_largest_note_that_is_read_is_checked_in_seconds() -> None:
    files = "".join(
        f'[[kernel.file]]\npath = "aten/src/ATen/native/cuda/Nowhere{n}.cu"\n' for n in range(16)
    )
    fact = "lines = 3\nquote = 'if (idx < N) { // padding padding padding'\n"
    facts = "".join(f"[kernel.{name}]\n{fact}" for name in form.FACTS)
    text = f'[[kernel]]\nframework = "torch"\nbackend = "cuda"\n{files}{facts}' * 16
    started = time.process_time()
    found = notes.check_text(text, "notes.toml", use=Sources(packages=False))
    assert len(found.entries) == 16
    assert time.process_time() - started < 6
